"""The words by which promises in English are told: verbs by what they promise, and who makes them true."""

from __future__ import annotations

from ingest.analysis.rules.deadlines_tokens import bag

CONTACT = bag(
    "inform alert remind call phone ring buzz text message write contact reach reply respond notify ping touch "
    "follow dial whatsapp"
)
SEND = bag("send email e-mail mail forward post ship dispatch courier share resend circulate fax")
COME = bag("come deliver bring visit arrive swing collect pick")
FIRM = (
    CONTACT
    | SEND
    | COME
    | bag(
        "handle knock shoot waive compensate deduct reverse refund reimburse credit fix replace order arrange "
        "prepare "
        "draft submit raise escalate chase issue "
        "investigate sort organise organize report update let drop hand pass deal make ensure fetch repair print "
        "finish schedule speak talk return"
    )
)
AT_ONCE = bag(
    "check look see pull open put transfer connect find take note read repeat explain tell show ask try start add "
    "mark apply confirm verify walk grab cancel change book process remove set enter search bring need"
)
NEVER = bag(
    "want like love admit bet say assume guess miss remember need never hope wonder imagine leave suggest "
    "recommend mention know understand appreciate believe agree stay keep wait hold stop spare skip pretend be "
    "have not think regret probably hear lose die quit always refuse use live survive manage"
)
ADVERBS = bag(
    "just also then definitely personally certainly gladly happily quickly always still now go ahead and sure to "
    "actually first immediately straight only even really myself ourselves probably both right back"
)
NOW = frozenset({"now", "quickly", "sec", "moment"})
I_WILL = bag("i'll we'll ill")
WE = frozenset({"i", "we"})
AM = bag("i'm we're im")
YOU_WILL = bag("you'll youll")
THEY_WILL = bag("he'll she'll they'll it'll that'll someone'll somebody'll theyll itll")
SHALL = bag("will shall")
MODALS = bag("can could would might may should")
ASK = bag("if when once whether unless until till before after how what where who why which as")
REPORT = bag("said told promised thought claimed says")
ROLES = bag(
    "courier driver engineer technician manager team colleague colleagues specialist doctor nurse accountant "
    "accounts someone somebody agent representative rep supervisor plumber electrician fitter installer crew "
    "department office warehouse dispatcher coordinator consultant lawyer advisor adviser mechanic operator "
    "billing support director receptionist tech surveyor teacher tutor coach depot finance logistics dispatch "
    "finances boss"
)
THINGS = bag(
    "refund order package parcel invoice replacement it documents contract email letter report payment credit "
    "delivery shipment money paperwork claim request ticket repair card certificate quote link sample copy photo "
    "one answer estimate form report code card statement keys key tickets ticket pallets boxes cartons letters "
    "parcels orders invoices "
    "certificates device router reader unit box goods stock bonus "
    "voucher cheque check transcript draft contract paperwork this that "
    "everything they results kit part parts unit"
)
OF_ITSELF = bag(
    "need want see cost depend take know expire end close renew start increase go change rise stop last apply "
    "vary continue remain stay keep work look seem"
)
BE = bag("is are was were isn't aren't it's that's he's she's they're has have had do does did")
PRONOUNS = bag("he she they it that this")
HEDGES = bag("usually normally generally typically guess hope hopefully maybe perhaps probably suppose often")
TALK = bag("come back cover kick run go jump move circle summarise summarize keep wrap pause mention comment quick")
POLITE = bag("mind okay ok alright fine")
ABOUT = bag("about from regarding because concerning to behalf")
SMALL = bag(
    "the and for you your with from that this them him her our out off over get got have make it's its i'll we'll "
    "ill a an to of in on at by as us me my i we be it so but then once when are is am i'm we're you'll"
)
PLACES = bag("there with at over round around out on onsite back done ready finished")
HAPPY = bag("happy glad able honest sure delighted fine okay grateful sorry careful")

CALLS = bag("call ring bell buzz shout")
NOTES = bag("note message word voicemail")
# What is done of itself at a time that is fixed: "a new one ships tomorrow".
SCHEDULED = bag("go ship leave ships leaves goes follows going coming shipping leaving being")
# Kept for the other until a day.
HELD = bag("hold keep reserve save freeze park store")
# What is promised not to happen, until a day.
SPARED = bag("charge bill disconnect cut touch raise cancel increase release suspend close stop chase")
# States of what is always so, or where somebody is not.
STATES = bag(
    "closed open shut busy off away valid available required needed due charged asked able cheaper more higher lower "
    "a an the about around no fine unavailable only too very quite"
)
AVAILABLE = bag("until till holiday leave vacation annual")
DOUBTS = bag("guarantee promise promises guarantees certain")
FREE = frozenset(
    pair
    for first in ("no", "our", "own")
    for pair in ((first, "charge"), (first, "cost"), (first, "expense"), ("of", "charge"), ("on", "us"))
)
