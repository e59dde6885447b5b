"""English patterns of what people tell of themselves in passing: who lives with them, when they are there, what they
are on, how they are best reached. Texts are lower case, with straight apostrophes, or without any."""

from __future__ import annotations

import re

BEGINS, ENDS = r"(?<![a-z0-9])", r"(?![a-z0-9])"
COUNT = (
    r"(?:\d{1,3}(?:,?\d{3}){0,2}|a couple of|a few|several|a dozen|two|three|four|five|six|seven|eight|nine|ten|"
    r"eleven|twelve|\w{3,6}teen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ]\w{3,5})?|"
    r"(?:a|one|two|three|four|five) hundred(?: and \w{3,9})?)"
)
RELATIVE = (
    r"(?:husband|wife|partner|son|daughter|kid|child|mother|mum|mom|father|dad|brother|sister|grandson|granddaughter|"
    r"grandad|grandma|nan|gran|parents|twins?|baby|boyfriend|girlfriend|fiancee?|aunt|uncle|nephew|niece|cousin|"
    r"flatmate|roommate|housemate|lodger|(?:mother|father|brother|sister)[- ]in[- ]law|boys|girls|kids|children|"
    r"eldest|youngest|toddler|grandkids)"
)
DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
PART = r"(?:mornings?|afternoons?|evenings?|nights?|weekends?|weekdays?|lunchtimes?)"
MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|aug|sept|oct|"
    r"nov|dec|spring|summer|autumn|christmas|easter|thanksgiving|new year)"
)
DATE = (
    rf"(?:(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)|\w{{3,9}}(?:teenth|tieth)|first|second|third|fourth|fifth|sixth|"
    rf"seventh|eighth|ninth|tenth|eleventh|twelfth|twenty[- ]\w{{4,8}})(?: of {MONTH})?|\d{{0,2}} ?{MONTH}{ENDS}|"
    rf"next (?:week|month|year|{DAY})|{DAY})"
)
JOB = (
    r"(?:nurse|teacher|doctor|vet|vet nurse|lawyer|solicitor|accountant|driver|student|engineer|plumber|electrician|"
    r"builder|carer|chef|cook|baker|farmer|designer|photographer|pensioner|freelancer|contractor|landlord|musician|"
    r"firefighter|police officer|cop|developer|programmer|writer|hairdresser|dentist|pharmacist|mechanic|pilot|"
    r"roofer|joiner|paramedic|midwife|surgeon|translator|trucker|caretaker|childminder|therapist|professor|"
    r"bookkeeper|owner|lecturer|barista|florist|architect|diabetic|vegan|vegetarian|widow|widower|minor)"
)
THING = (
    r"(?:boilers?|furnace|roof|house|flat|apartment|condo|bungalow|cottage|farm|garden|yard|pool|garage|van|truck|"
    r"car|bike|scooter|phone|laptop|ipad|tablet|printer|router|piano|guitar|dryer|washer|oven|fridge|freezer|keurig|"
    r"espresso machine|coffee machine|till|pos|server|scanner|forklift|ramp|loading dock|lift|elevator|driveway|"
    r"permits?|solar panels?|battery|heat pump|radiators?|wood stove|aga|hot tub|sauna|greenhouse|shed|workshop|"
    r"studio|kiln|oven|dog|cat|horse|parrot|rabbit|hens|chickens|goats|puppy|kitten|tortoise|aquarium|fish tank|"
    r"accountant|bookkeeper|assistant|grandson|granddaughter|twins|toddler|newborn|baby|warehouse|shop|store|salon|"
    r"bakery|cafe|restaurant|office|clinic|staff|crew|drivers|employees|volunteers|tenants?|lodgers?|chairs|tables|"
    r"pacemaker|hearing aids?|asthma|diabetes|epilepsy|arthritis|bad (?:back|knee|hip|eyes)|stairlift|wheelchair|"
    r"basement|attic|loft|balcony|conservatory|key safe|gate|buzzer|intercom|concierge|doorman|landline)"
)

RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (key, re.compile(BEGINS + "(?:" + pattern + ")"))
    for key, pattern in (
        # Household and family.
        (
            "household",
            rf"(?:there'?s|there are|there is|we're|we are|it's|its) (?:just |only )?(?:{COUNT} of us|the "
            rf"{COUNT} of us|me,? (?:and )?my|just me\b)[^.!?]{{0,60}}",
        ),
        (
            "family",
            rf"(?:my|our|his|her|their) (?:\w{{3,10}} )?(?P<what>{RELATIVE})(?:'?s|'?re| is| are|'?ll| has|"
            rf" have)? (?:also )?"
            rf"(?:an? {JOB}|moved in|lives?|living|works?|stud(?:ies|ying)|teach(?:es)?|runs?|deaf|blind|disabled|"
            rf"allergic|pregnant|expecting|due|retired|passed|died|(?:in|at) (?!the (?:other|back|next|way|car|"
            rf"meeting))"
            rf"|on (?!the (?:line|phone|way)|hold|about|at\b)|{COUNT}{ENDS}|turn(?:s|ing)|getting married|hates?|"
            rf"loves?|"
            rf"can't|doesn't|won't|got (?:an?|the)|does (?:all )?the|handles?)[^.!?]{{0,70}}",
        ),
        ("family", rf"(?:my|our) (?P<what>{RELATIVE}),? (?:they're|he's|she's|hes|shes|theyre) [^.!?]{{2,60}}"),
        ("family:relation", rf"[a-z]{{2,15}}(?:'s| is|s) (?:my|our|their) (?:\w{{3,10}} )?{RELATIVE}{ENDS}"),
        (
            "family:age",
            rf"(?:he|she|they)(?:'?s| is|'?re| are) (?:only |just |nearly |almost |about )?{COUNT}"
            rf"(?: (?:years? old|months?|weeks?|now))?(?= ?(?:[.,!]|$| and| so| but| next))",
        ),
        ("family:job", rf"(?:he|she)(?:'?s| is) an? (?:\w{{3,10}} )?{JOB}{ENDS}[^.!?]{{0,40}}"),
        (
            "family:place",
            r"(?:he|she|they)(?:'?s| is|'?re| are) (?:up |over |down |out |away |off )?in (?!the |a |an |there|"
            r"here|his |her |trouble|charge|and\b|on\b|today|touch)[a-z]{3,20}[^.!?]{0,40}",
        ),
        (
            "health",
            rf"(?:he|she|they|i|we)(?:'?s|'?m|'?re| is| am| are|'ve| have| has|'s got)? (?:just |"
            rf"also )?(?:got )?(?:on )?"
            rf"(?:an? )?(?:oxygen|dialysis|insulin|chemo|a breathing machine|breathing machine|blood thinners|"
            rf"crutches|"
            rf"hearing aids?|a pacemaker|pacemaker|epipens?|asthma|diabetes|dementia|epilepsy|arthritis|wheelchair|"
            rf"allergic|coeliac|celiac|diabetic|asthmatic|pregnant|expecting|registered blind|hard of hearing|"
            rf"dairy[- ]free|gluten[- ]free|lactose intolerant|vegan|vegetarian|autistic|"
            rf"partially sighted){ENDS}[^.!?]{{0,50}}",
        ),
        (
            "health",
            rf"[a-z]{{3,15}} (?:has|have|wears|needs|uses) (?:an? )?(?:hearing aids?|epipens?|pacemaker|asthma|"
            rf"diabetes|dementia|autism|wheelchair|oxygen|insulin|glasses|inhaler){ENDS}[^.!?]{{0,30}}",
        ),
        (
            "health",
            r"(?:i'?m|he'?s|she'?s|having|for|after|got) [^.!?]{0,25}(?:surgery|an? operation|a hip replacement|"
            r"chemo|physio)" + ENDS,
        ),
        (
            "health",
            r"(?:my|his|her) (?:eyes|knees?|hips?|back|hearing|heart|hands|legs?|eyesight|memory)(?:'?s| is| are|"
            r"'?re) (?:\w{2,8} )?(?:bad|gone|poor|shot|failing|weak|going|not (?:great|good|what))[^.!?]{0,30}",
        ),
        (
            "income",
            r"(?:on|off) (?:an? |my |the )?(?:state |small )?(?:pension|fixed income|benefits|disability|tight "
            r"budget|minimum wage|one income|maternity leave|social security)" + ENDS,
        ),
        ("income", r"i (?:only )?get (?:my (?:check|cheque|pension|money)|paid) [^.!?]{2,30}"),
        # When they are there.
        (
            "schedule",
            rf"(?:(?:{DAY}|{PART}) (?:is|are) (?:no good|bad|hopeless|out|my day off|our day off|always)|"
            rf"(?:{DAY}|{PART}) ?,? ?(?:we'?re|i'?m|we are|i am|he'?s|she'?s|they'?ve|they'?re|i|we) "
            rf"(?:always |usually |mostly )?(?:closed|off|out|away|at|in|no good|bad|better|best|fine|easier|teach|"
            rf"work|"
            rf"swimming|busy|working|asleep|shut|open))[^.!?]{{0,50}}",
        ),
        ("schedule", rf"(?:not|never|no [a-z-]{{3,15}}|anything but|except|avoid) (?:on )?{DAY}[^.!?]{{0,60}}"),
        ("schedule", r"i(?:'?m| am) (?:at|on|in|with) [^.!?]{2,30} (?:till|until|every|on) [^.!?]{2,30}"),
        (
            "schedule",
            rf"(?:i'?m|we'?re|i|we|she|he|they) (?:do|does|work|works|am|are|play|plays|go|goes|volunteer|teach|"
            rf"teaches|coach|at|on)[^.!?]{{0,35}} (?:nights|shifts|{DAY}(?<=s)|{PART}(?<=s)|every (?:{DAY}|week|"
            rf"month|half term|"
            rf"weekday|day|summer|year))[^.!?]{{0,40}}",
        ),
        (
            "schedule",
            rf"(?:not|nothing|nobody|don't \w{{3,8}}|please not|never) before (?:about )?(?:{COUNT}|noon|"
            rf"lunch)[^.!?]{{0,50}}",
        ),
        (
            "schedule",
            r"(?:we|i|our \w{3,12}) (?:open|close|shut|finish|start|close the books|clock off|knock off)s? "
            r"(?:at|on|from|by) (?!the (?:door|app))[^.!?]{2,40}",
        ),
        ("schedule", rf"{PART} (?:are|is|work|suits?) (?:better|best|easier|good|fine|for me)[^.!?]{{0,50}}"),
        (
            "away",
            rf"(?:i'?m|we'?re|i am|we are|he'?s|she'?s|they'?re|i'?ll be) (?:out|away|off|gone|abroad|on (?:leave|"
            rf"holiday|vacation)|in [a-z]{{3,15}}|back)[^.!?]{{0,30}} (?:from|till|until|through|on|"
            rf"for)(?: the)? (?:{DATE}|{COUNT} "
            rf"(?:days|weeks|months))[^.!?]{{0,50}}",
        ),
        ("away", r"(?:we|i) (?:go|drive|fly|head) to [a-z]{3,20} (?:every|each|for|in)[^.!?]{2,40}"),
        # What they are, have and use.
        (
            "business",
            rf"(?:we'?re|we are|i'?m|i am) (?:just |only |basically )?an? (?:\w{{3,12}}[ -]){{0,3}}(?:firm|business|"
            rf"company|shop|store|cafe|bakery|restaurant|school|clinic|practice|salon|gym|studio|charity|church|"
            rf"hotel|"
            rf"b&b|guesthouse|nursery|farm|brewery|outfit|team|startup|agency|non-?profit|truck|crew|band|"
            rf"club)(?: of "
            rf"{COUNT}| in [a-z]{{3,20}}| with [^.!?,]{{3,30}}|{ENDS})[^.!?]{{0,30}}",
        ),
        (
            "business",
            r"(?:we are|we're|i'm|i work|i sell|we sell|we work|we cook) (?:in|from|out of) (?:an? |the |my )(?:food "
            r"truck|garage|van|home|basement|market|shed|kiosk|stall)[^.!?]{0,30}",
        ),
        (
            "company:size",
            rf"{COUNT} (?:staff|employees|people on (?:staff|payroll)|of us in the (?:office|company|shop))"
            rf"[^.!?)]{{0,30}}",
        ),
        (
            "company:size",
            rf"(?:family firm|company|team|staff|crew|firm|business) of (?:about |"
            rf"around )?{COUNT}{ENDS}",
        ),
        (
            "assets",
            rf"(?:i|we)(?:'?ve| have|'?ve got| have got| got| own| keep| run)? (?:got |had )?(?:my |our |an? |the |"
            rf"some |{COUNT} )(?:\w{{2,12}} ){{0,2}}(?P<what>{THING}){ENDS}(?! (?:that (?:won't|doesn't)|"
            rf"which))[^.!?,]{{0,50}}",
        ),
        (
            "assets",
            rf"(?:our|my) (?:new|own|old|second|other) (?:\w{{3,12}} )?(?P<what>{THING}|[a-z]{{3,12}}){ENDS} (?:is|"
            rf"takes|has|"
            rf"only|in|on|opens?|fits)[^.!?]{{2,50}}",
        ),
        (
            "assets",
            r"[a-z]{3,15} (?:is|are) (?:my|our) (?:new |other |second |old |own )(?:shop|store|office|warehouse|"
            r"branch|site|place|house|supplier|accountant|owner|manager|truck|van)[^.!?]{0,40}",
        ),
        (
            "assets",
            rf"{COUNT} (?P<what>chairs|tables|rooms|beds|seats|desks|shops|stores|sites|vans|trucks|cars|branches|"
            rf"units|bedrooms|bathrooms|floors|acres|kids|pupils|students|users|licen[cs]es|drivers|covers)(?: here|"
            rf" now| in| at| on| and)?"
            rf"(?= (?:here|and|in|at|on|now)|[.,!]|$)[^.!?]{{0,60}}",
        ),
        ("assets", rf"we(?:'?ve| have) (?:had|got) {COUNT} (?:since|here|now|in)[^.!?]{{2,50}}"),
        (
            "lacks",
            r"(?:i|we) (?:don't|do not|dont|haven't|havent) (?:own|have|got|do|use|drive|eat|drink)(?: an?| any)? "
            rf"(?:{THING}|car|driver|licen[cs]e|internet|smartphone|email|whatsapp|credit card|scanner|computer|"
            rf"wifi|kids|pets|"
            rf"parking|meat|dairy|gluten|pork|alcohol|cash|paypal|windows|excel|docusign){ENDS}[^.!?]{{0,40}}",
        ),
        (
            "lacks",
            r"there(?:'s| is|'?re| are) no (?:lift|elevator|parking|reception|signal|driveway|buzzer|doorbell|"
            r"broadband|"
            r"mains gas|gas|street parking|landline|disabled access|side access)[^.!?]{0,40}",
        ),
        (
            "equipment",
            r"(?:i'?m|we'?re|i am|we are) (?:on|using|still on|running) (?:an? |the |your )?(?!the (?:line|phone|way|"
            r"website|page|bus|train)|hold|time|my way|about|it\b|a (?:train|bus|call)|top|board|mobile\b|track|here)"
            r"(?:old |new |basic |pro |business |\w{3,12} )?(?:plan|tariff|package|android|iphone|ipad|mac|macbook|"
            r"windows"
            r"|chromebook|prepay|pay as you go|contract|version|[a-z]{2,12} ?\d{1,4})[^.!?]{0,40}",
        ),
        (
            "equipment",
            r"(?:it'?s|its|mine'?s|that'?s|my own,?(?: yes)?|ours is|we'?ve|ive|i'?ve) (?:got )?(?:an? |"
            r"the )?(?:\d{4} |old )?"
            r"(?P<what>vaillant|worcester|bosch|baxi|ideal|viessmann|toyota|ford|honda|subaru|volvo|tesla|bmw|audi|"
            r"nissan|"
            r"mazda|kia|hyundai|volkswagen|vw|skoda|jeep|chevy|samsung|lg|iphone|ipad|macbook|dell|lenovo|hp|canon|"
            r"epson|"
            r"brother|siemens|miele|whirlpool|thinkpad|pixel|sony|xerox|yamaha|kawai|trek|giant|peugeot|renault|fiat|"
            r"mercedes|transit|sprinter|dyson|nespresso|keurig|nokia|motorola)[^.!?]{0,60}",
        ),
        (
            "car",
            r"(?:my|our) (?:\w{3,10} )?(?P<what>van|car|truck|motorhome|camper|suv|bike)(?:'?s| is) (?:an?|"
            r"the) [^.!?]{3,40}",
        ),
        (
            "home",
            rf"(?:\w{{3,10}} (?:floor|storey)|{BEGINS}(?:basement|top|ground)[- ]floor)(?: flat| apartment|"
            rf",? no (?:lift|elevator)|"
            rf" walk[- ]?up)?(?=[.,!]|$| and| of| no)[^.!?,]{{0,30}}",
        ),
        (
            "home",
            r"(?:it'?s|its|we'?re|there'?s) (?:\w{3,10} )?(?:residents?[- ]only|permit[- ](?:only|parking)|"
            r"a walk-?up|gated|"
            r"semi|detached|listed|a rental|rented|off[- ]grid|leasehold|a new build|a victorian)[^.!?]{0,60}",
        ),
        (
            "supplier",
            r"(?:i|we) (?:used|were with|was with|had|switched from|came from|are with|'re with|'m with|"
            r"am with) (?!to\b|it\b|"
            r"you|the app|your|this|that|my |our |a |an |no |some )[a-z][^.!?,]{2,25}(?: till| until| before| for|"
            r" last)[^.!?]{2,40}",
        ),
        (
            "client:since",
            rf"(?:(?:i'?ve|we'?ve|i have|we have) (?:been|had|banked|used|bought|paid)|with you|member|"
            rf"customers?)[^.!?]{{0,35}} (?:for|since) (?:over |about |nearly |almost )?(?:{COUNT} (?:years|months)|"
            rf"\d{{4}}|"
            rf"nineteen|twenty|{MONTH})[^.!?]{{0,20}}",
        ),
        # Where they are.
        (
            "city",
            r"(?:we'?re|i'?m|we are|i am|we live|i live) (?:just |now |up |over |down |out |all |based |"
            r"actually ){0,2}in (?!the |a |"
            r"an |my |our |your |this|that|here|there|for|on|and|it|charge|trouble|touch|no |meeting|line|tomorrow|"
            r"today|two|"
            r"three|real|desperate|pain|bed|at|between|favor|hospital|\d)[a-z]{3,20}(?=[.,!]| (?:now|and|so|near|"
            r"till|until|"
            r"for|at)|$)[^.!?]{0,40}",
        ),
        (
            "moved",
            r"(?:we|i)(?:'?ve|'?re| are|'?m| have)? (?:only |just |recently )?(?:moved|moving|relocated|"
            r"relocating)(?: out| up| down| over)? (?:to|from|"
            r"here|in with|back to|into) (?!the next|another|on\b|you)[^.!?]{2,50}",
        ),
        (
            "address",
            r"(?:ship|send|deliver|bring|come) (?:it |them )?to (?:the |my |our )?(?:\w{3,14} )?\d{1,5} [^.!?]{4,40}",
        ),
    )
)
