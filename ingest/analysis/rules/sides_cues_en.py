"""What only the company says, and what only its client says, in English. See `sides_cues`."""

from __future__ import annotations

from ingest.analysis.rules.sides_cues import cues

_THING = (
    r"(?:order|ticket|account|invoice|bill|booking|reservation|appointment|subscription|plan|policy|card|delivery|"
    r"package|parcel|shipment|contract|payment|balance|refund|request|claim|case|car|vehicle|device|unit|line)\b"
)

EMPLOYEE = cues(
    (
        3,
        r"\b(?:how (?:can|may|could) (?:i|we) (?:help|assist|be of)|what can i (?:do|get) for you|how (?:can|"
        r"may) i direct)",
    ),
    (
        3,
        r"\b(?:who (?:do i have|am i (?:speaking|talking)|is this)|may i (?:have|take|get|ask) your name|(?:can|"
        r"could) i (?:get|have|take|grab|just get|just take) (?:your|a) (?:\w{2,10} )?(?:name|number|email|"
        r"address|postcode|zip|date of birth|phone|order|account|booking|reference))",
    ),
    (
        3,
        r"\b(?:call|line|conversation)s? (?:is|are|may be|might be|will be|could be|being) (?:being )?(?:recorded|"
        r"monitored)|\brecorded line\b",
    ),
    (
        3,
        r"\b(?:thanks|thank you)(?: so much| very much)? for (?:calling|contacting|your (?:call|order|patience|"
        r"interest|message|enquiry|inquiry|business|custom|email|payment)|holding|reaching out|waiting|choosing|"
        r"getting in touch|bearing with|letting us know|flagging|your)",
    ),
    (1.2, r"\byour (?:\w{3,14} )?" + _THING),
    (
        1.5,
        r"\b(?:let me (?:just )?(?:check|look|see|pull|have a look|get|put you|transfer|find|bring|book|take)|"
        r"bear with me|one moment|i(?:'ve| have) (?:booked|put|got you|noted|raised|opened|updated|added|"
        r"processed|logged|made a note)|i(?:'ll| will) (?:put you|transfer|book|raise|log|open a|process|pass|"
        r"escalate|send you|email you|call you|get (?:that|someone|you)|make a note|arrange|credit|refund|"
        r"have (?:our|the|a|one|someone))|i can (?:offer|do|see|book|get you|put you|send|confirm|arrange|have|"
        r"waive|credit)|we can (?:offer|do|get|send|arrange|have|book|waive|come|deliver))\b",
    ),
    (
        1.2,
        r"\b(?:we(?:'ll| will) (?:send|ship|deliver|call|refund|credit|be in touch|get|have|email|replace|let you|"
        r"pick|collect)|you(?:'ll| will) (?:get|receive|have|be able|see|need)|you(?:'re| are) on (?:the|our))\b",
    ),
    (
        2.5,
        r"\b(?:is there )?any(?:thing else|thing more) (?:i|we|from|you)|\bany (?:other|more|further) questions\b|"
        r"\banything else\b(?=[^.!\n]{0,40}\?)",
    ),
    (
        2.5,
        r"\b(?:i(?:'d| would) like to offer|i can offer|we(?:'re| are) offering|would you (?:be interested|"
        r"like (?:me|us|to (?:book|go ahead|proceed|place|schedule|hear)))|we(?:'ve| have) (?:got )?a (?:special|"
        r"promotion|discount|deal|plan|package))\b",
    ),
    (
        1.5,
        r"\b(?:(?:do you |would you )?(?:want|like) me to|shall (?:i|we) (?:put|book|send|add|order|hold|reserve|ring|"
        r"call|get|arrange|"
        r"take|say)|what name|whose name|(?:one|two|three|four|five|\d|few) left|we ask for|i(?:'ll| will|'m) (?:have|"
        r"putting|sending|"
        r"leaving|taking it off|drop|throw)|i(?:'ve| have)? (?:can )?see (?:a|the|your|you|it)\b|it(?:'s| is) [$£€]\d|"
        r"comes with|"
        r"warranty|(?:bring|bring along) (?:your|some|a|the)|is it still|"
        r"(?:what(?:'s| is|s) the (?:tracking|reference|serial|postcode|order|account|number)|which (?:order|class|"
        r"account|"
        r"branch|address|store)))\b",
    ),
    (
        1.5,
        r"\bour (?:\w{3,12} )?(?:plan|package|price|rate|tariff|warranty|terms|engineer|technician|driver|"
        r"warehouse|website|system|records|crew|showroom|workshop|support)s?\b",
    ),
    (
        0.8,
        r"\b(?:is|are|was|has been|have been|is now) (?:cancelled|canceled|confirmed|booked|billed|included|"
        r"reserved|refunded|processed|updated|dispatched|shipped|scheduled|credited|waived|resolved)\b",
    ),
    (
        2,
        r"\b(?:i(?:'m| am) (?:so |very |really |terribly |truly )?sorry (?:about|for|to hear|that you|you)|(?:i |"
        r"we )?apologi[sz]e|my apologies|sorry (?:about|for) (?:that|the|this|your)|sorry to hear)",
    ),
    (
        2,
        r"\b(?:(?:is|would) (?:now|this|it) (?:be )?a (?:good|bad|convenient) time|do you have a (?:minute|moment|"
        r"couple)|have you got a (?:minute|moment)|i(?:'m| am) (?:calling|ringing|reaching out|following up|"
        r"writing) (?:from|on behalf|to follow|about your|regarding your|because your))",
    ),
    (
        2,
        r"\b(?:i(?:'ll| will) need (?:your|the|a|to (?:take|verify|confirm))|(?:for security|to verify|"
        r"security question|date of birth|last four)|(?:can|could|would) you (?:please )?(?:confirm|verify|spell|"
        r"tell me|give me|describe|read (?:me|out))|what(?:'s| is) (?:your|the (?:address|order|account|best|name|"
        r"number|serial|model|registration|postcode))|what address)\b",
    ),
    (
        2.5,
        r"\b(?:(?:past due|overdue|outstanding) (?:balance|amount|invoice|payment)|when can (?:you|"
        r"we expect) (?:pay|payment)|missed (?:a |your )?payment)",
    ),
    (
        1.5,
        r"^\W{0,3}(?:\w{2,16} ){1,4}(?:speaking|here)\b[^.\n]{0,60}\?|\b(?:this is|it's|my name is|"
        r"my name's) \w{2,14}(?: \w{2,14})? (?:from|with|at|over at|calling from|in (?:billing|support|sales)|"
        r"and i)\b|\b(?:customer (?:service|support|care)|support|front desk|reception|help ?desk|"
        r"sales)\b[^.?\n]{0,30}\b(?:speaking|here)\b",
    ),
    (
        1,
        r"\b(?:have a (?:great|good|nice|lovely|wonderful)|take care|i understand your|i appreciate|you(?:'re|"
        r" are) (?:all set|very welcome|booked|through to)|look forward to|happy to help|glad to help|feel free|"
        r"don't hesitate)\b",
    ),
)

CLIENT = cues(
    (
        2.5,
        r"\b(?:i(?:'d| would) (?:like|love) to|i (?:just )?(?:want|wanted|need|was hoping|was wondering)(?: to|"
        r" if)?|i(?:'m| am) (?:looking (?:for|to)|trying to|hoping to|thinking (?:about|of)|interested in|"
        r"calling (?:about|because|to))|can i (?:just )?(?:book|order|get|cancel|change|return|buy|make|pay|speak|"
        r"talk)|could i (?:book|order|cancel|change|return|make|speak)) ?(?:a |an |the |my |to |know|find|order|"
        r"book|cancel|change|return|buy|ask|make|get|talk|speak|see|report|some|complain|you)?",
    ),
    (2, r"\b(?:my|our) (?:\w{3,14} )?" + _THING),
    (
        1.8,
        r"\bi (?:\w{3,9} )?(?:ordered|bought|paid|booked|called|emailed|wrote|spoke|signed up|cancelled|canceled|"
        r"sent back|returned|received|got charged|was charged|was told|waited|pay|placed|purchased|subscribed|"
        r"have(?:n't| not) (?:received|got|heard)|can't|cannot|couldn't|didn't (?:get|receive|order))\b",
    ),
    (
        1.5,
        r"\b(?:you (?:guys|people|charged|sent|promised|said|told|folks|lot|keep|delivered|took)|do you (?:have|"
        r"offer|deliver|do|guys|take|sell|accept|carry|ship|know (?:when|if|why))|are you (?:open|able|guys|"
        r"still)|your (?:website|site|app|ad|driver|company|colleague|guy|technician|competitor|people|store|"
        r"product))\b",
    ),
    (
        1.5,
        r"\bhow (?:much (?:is|does|do|would|will|are|for)|long (?:does|will|is|would|do)|soon)\b|\bwhat(?:'s| is|"
        r" are) (?:the|your) (?:price|cost|cheapest|opening|hours|rates?|damage)|\bwhen (?:will|is|can|are|do|"
        r"does) (?:it|my|the|you|i|they|we|someone|somebody)\b|\bhow do i\b",
    ),
    (
        1.8,
        r"\b(?:(?:is|are)n't working|not working|doesn't (?:work|turn|start|load|open)|won't (?:work|turn|start|"
        r"load|open|connect|print|let me)|stopped working|broken|broke down|keeps? (?:crashing|saying|dropping|"
        r"freezing|going)|no (?:hot water|internet|signal|heat|power|dial tone)|(?:is|are|went) (?:down|dead)|"
        r"never (?:arrived|came|showed|got)|hasn't (?:arrived|come|shown))\b",
    ),
    (
        1.5,
        r"\b(?:(?:is|are) (?:the|that|this|your|those|any) [^.?!\n]{2,40} (?:in stock|available|still on|free)|"
        r"have you (?:got )?(?:any|"
        r"a|the)|i(?:'ll| will) (?:take|have) (?:it|that|the|one|two)|(?:had|have|got|does|do) (?:it|them|one) for \d|"
        r"where(?:'s| is) my|"
        r"my (?:kids?|son|daughter|husband|wife|mum|mom|dad|boss|flat|house|phone|laptop)|honestly we|"
        r"(?:use|ring|call) my (?:mobile|cell|landline)|i(?:'ve| have) had (?:a|your) (?:letter|bill|email))\b",
    ),
    (
        2,
        r"\b(?:who(?:'s| is) (?:this|calling)|how did you get (?:my|this) number|not interested|stop calling|"
        r"i(?:'ll| will| need to|'d have to|'ve got to) (?:think about it|think it over|talk (?:it over|to my)|"
        r"sleep on)|too (?:expensive|much|pricey)|lot of money|cheaper (?:elsewhere|than))",
    ),
    (
        2,
        r"\b(?:speak to (?:a|your|the) (?:manager|supervisor)|i(?:'m| am) (?:furious|not happy|very unhappy|"
        r"fed up|disappointed|done)|ridiculous|unacceptable|my lawyer|sue|small claims|want (?:my money|a refund)|"
        r"i demand|compensation|switching to|attorney|i have asked|(?:three|third|two|second) times?|not paying|"
        r"clowns|idiots)\b",
    ),
    (
        1.5,
        r"(?:^|[.!\n] ?)(?:please |pls |just )?(?:cancel|refund|stop|switch off|send me|close) (?:my|our|the|this|"
        r"it|me|sending)\b|\bplease (?:cancel|confirm receipt|advise|quote|send (?:me|us))\b|\bi don't accept\b|"
        r"\bwhen i (?:ordered|bought|signed|booked)\b",
    ),
    (
        1.2,
        r"^\W{0,3}(?:hello|hi|hey|yes|yeah|morning|good morning|"
        r"good afternoon)[,.! ]{1,3}(?:\w{2,10}[,.! ]{1,3})?(?:i(?:'m| am|'d|'ve| have| need| want| was)?\b|my|we|"
        r"can you|could you|do you|is this|is that)",
    ),
)
