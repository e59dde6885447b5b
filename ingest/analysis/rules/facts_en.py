"""English patterns of lasting facts that people tell of themselves. Texts are lower case, with straight apostrophes."""

from __future__ import annotations

import re

_B, _E = r"(?<![a-z0-9])", r"(?![a-z0-9])"
NUMBER = (
    r"(?:\d{1,3}(?:,?\d{3}){0,2}|a couple of|a few|several|a dozen|an?|one|two|three|four|five|six|"
    r"seven|eight|nine|ten|eleven|twelve|\w{3,6}teen|"
    r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ]\w{3,5})?|(?:a|one|two|three|four|"
    r"five) hundred(?: and \w{3,9})?)"
)
_COUNT = NUMBER.replace("|an?|", "|")
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|(?:next |"
    r"the )?(?:spring|summer|autumn|fall|winter)|next year|christmas|labor day|easter)"
)
_FAMILY = (
    r"(?:husband|wife|partner|son|daughter|daughters|sons|kid|kids|child|children|mother|mum|mom|father|dad|"
    r"brother|sister|grandson|granddaughter|grandkids|parents|baby|toddler|twins|boyfriend|girlfriend|"
    r"fiancee?|mother-in-law|brother-in-law)"
)
_PET = r"(?:dogs?|cats?|puppy|puppies|kittens?|horses?|rabbits?|parrots?|spaniel|labrador|retriever|terrier)"
_ASSET = (
    r"(?:shops?|stores?|offices?|branch(?:es)?|warehouses?|trucks?|vans?|cars?|"
    r"computers?|laptops?|desks?|seats?|users?|licen[cs]es?|restaurants?|cafes?|locations?|sites?|rooms?|"
    r"beds?|tills?|machines?|units?|apartments?|flats?|houses?|properties|acres|students?|drivers?|"
    r"vehicles?|phones?|lines?|tablets?|printers?|floors?|bathrooms?|bedrooms?|technicians|engineers|"
    r"clients|patients|members|clinics?|salons?|studios?|farms?)"
)
_STREET = (
    r"(?:road|rd|street|st|avenue|ave|lane|ln|drive|dr|court|ct|boulevard|blvd|way|terrace|close|crescent|"
    r"square|place|highway|hwy|parkway|row|gardens|grove|hill)"
)
_JOB = (
    r"(?:nurse|teacher|doctor|vet|lawyer|accountant|driver|student|engineer|plumber|electrician|builder|"
    r"carer|chef|cook|baker|farmer|designer|photographer|pensioner|retiree|freelancer|contractor|landlord|"
    r"musician|firefighter|police officer|developer|writer|hairdresser|dentist|pharmacist|mechanic|pilot|"
    r"roofer|joiner|widow|widower|single (?:mum|mom|parent|dad))"
)

RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (key, re.compile(_B + pattern))
    for key, pattern in (
        (
            "family:children",
            rf"(?:i|we)(?:'ve| have)(?: got)? {NUMBER} (?:\w{{3,10}} )?(?:kids?|children|child|sons?|"
            rf"daughters?|boys|girls|grandkids|toddlers?|babies|baby|twins){_E}[^.!?,]{{0,40}}",
        ),
        (
            "family",
            rf"(?:my|our) (?:\w{{3,10}} )?(?P<what>{_FAMILY})(?:(?:'s| is| are) (?:an?|on (?!the (?:line|"
            rf"phone)|hold)|in (?!the)|"
            rf"\d{{1,2}}|allergic|pregnant|disabled|retired|deaf|blind|diabetic|vegetarian|vegan)| works?| lives?|"
            rf" ha(?:s|ve) (?:an?|{_COUNT}|asthma|diabetes|autism|dementia)| teaches| runs?| studies|"
            rf" goes to){_E}[^.!?,]{{0,70}}",
        ),
        ("household", rf"there(?:'s| are| is) (?:just )?(?:{_COUNT}|the two) of us[^.!?,]{{0,30}}"),
        (
            "health",
            r"(?:i'm|i am|my \w{3,9}(?:'s| is)) (?:allergic|diabetic|asthmatic|disabled|deaf|pregnant|"
            r"in a wheelchair|on oxygen|vegetarian|vegan|coeliac|celiac|hard of hearing)[^.!?]{0,50}",
        ),
        (
            "health:allergy",
            r"(?:i|we|he|she|my \w{3,9})(?:'ve| have| has)(?: got)? (?:an? )?(?:\w{3,9} )?allerg(?:y|"
            r"ies)[^.!?,]{0,40}",
        ),
        (
            "pet",
            rf"(?:i|we)(?:'ve| have|"
            rf"'d)?(?: already)?(?: have)?(?: got)? {NUMBER} (?:\w{{3,12}} "
            rf")?(?P<what>{_PET}){_E}[^.!?]{{0,60}}",
        ),
        (
            "company:size",
            rf"(?:we're|we are|there are|we've got|we have|i've got|i employ|we employ)(?: about| around|"
            rf" only| now| just| up to| roughly)? {_COUNT}(?: or so)? (?:of us|people|staff|employees|"
            rf"strong)(?! (?:waiting|here|coming|asking|in line|on hold|who|sitting))[^.!?,]{{0,30}}",
        ),
        ("company:size", rf"we were {_COUNT} people[^.!?]{{0,60}}"),
        (
            "assets",
            rf"(?:i|we)(?:'ve| have| own| run| operate| manage)(?: got)?(?: about| around| only| roughly|"
            rf" over)? (?!a (?:problem|question|"
            rf"couple of questions)){_COUNT} (?:\w{{3,14}} )?(?P<what>{_ASSET}){_E}[^.!?,]{{0,50}}",
        ),
        (
            "business",
            r"(?:i|we)(?: also)? (?:own|run|manage|operate) (?:an?|the|my own|our own|two|three|"
            r"several) (?!errand|test|report|check|scan|few)[^.!?,]{3,60}",
        ),
        (
            "business",
            r"(?:we're|we are) an? (?:small |family |local |family-run |little |new |two-person |"
            r"\w{3,12} )?(?:restaurant|bakery|school|clinic|hotel|charity|startup|agency|law firm|practice|"
            r"cafe|shop|store|nonprofit|dental practice|salon|gym|church|farm|manufacturer|brewery|company|"
            r"studio|firm|office|nursery|garage)[^.!?,]{0,50}",
        ),
        (
            "work:job",
            rf"(?:i'm|i am) (?:an? |a retired |retired |self-employed|on a fixed income|on a pension|"
            rf"a full-time |the )?(?:\w{{3,10}} )?(?:{_JOB}|retired|self-employed|fixed income|"
            rf"on a pension){_E}[^.!?,]{{0,40}}",
        ),
        (
            "work",
            r"i (?:work (?:from home|nights|as an?|for|at|in|shifts|part)|teach|"
            r"drive for)(?! you)(?: [^.!?,]{2,45})?",
        ),
        (
            "city",
            r"(?:i|we) (?:live|are based|'re based|moved|just moved|relocated) (?:\w{2,5} )?(?:in|to|near|"
            r"outside|out in|just outside)(?! (?:the last|a|an|your))(?: [^.!?,]{3,40})",
        ),
        (
            "city",
            r"(?:i'm|we're) (?:based in|located in|out in|over in|from) (?!the (?:office|middle|car)|your|"
            r"support|accounts|a |an )[a-z][^.!?,]{2,35}",
        ),
        (
            "home",
            r"(?:it's|this is|i've got|we've got|i have|we have|i live in|we live in|"
            r"we're in) an? (?:\w{3,12} ){0,2}(?:ranch|duplex|bungalow|terrace|farmhouse|townhouse|condo|"
            r"cottage|semi-detached|mobile home|basement flat|studio flat)(?: [^.!?]{0,60})?",
        ),
        (
            "office",
            r"our (?!old|previous|last|first|own|new (?:order|invoice|"
            r"contract))(?P<what>[a-z]{3,20}) (?:office|branch|shop|warehouse|site|depot|plant)(?! (?:hours|"
            r"manager))",
        ),
        (
            "office",
            r"our (?P<what>office|warehouse|shop|store|head office|plant|studio)(?:'s| is) (?:in|on|at|"
            r"near) [^.!?,]{3,40}",
        ),
        (
            "equipment",
            r"(?:i|we)(?:'ve)?(?: currently| now| already| still)? (?:use|run on|are on|'re on|drive|"
            r"ride)(?! (?:it|that|this|to|your|the same|the app|my|our|a lot|in|up|out|down))(?: an?|"
            r" the)? (?:\d{4} )?(?P<what>[a-z0-9-]{2,20})[^.!?,]{0,40}",
        ),
        (
            "equipment",
            r"(?:it's|mine's|mine is|i've got|i have|we have|we've got) (?:an?|the) (?:\d{4} |old |"
            r"new )?(?P<what>vaillant|worcester|bosch|toyota|ford|honda|subaru|volvo|tesla|bmw|audi|nissan|"
            r"mazda|kia|hyundai|volkswagen|vw|skoda|jeep|chevy|chevrolet|samsung|lg|iphone|ipad|macbook|"
            r"dell|lenovo|hp|canon|epson|brother|siemens|miele|whirlpool|thinkpad|pixel|sony|xerox|ideal|"
            r"baxi)[^.!?]{0,40}",
        ),
        (
            "contact:time",
            r"(?P<revoked>(?:(?:don't|do not|never) (?:ever )?(?:call|ring|phone) (?:me|us|this number|here) "
            r"(?:any ?more|again|ever)|(?:stop|quit) (?:calling|ringing|phoning) (?:me|us|this number|here)|(?:i|we) "
            r"(?:don't|do not|no longer) (?:want|wish) (?:to (?:be (?:called|phoned|rung)|(?:get|receive) (?:\w{3,9} )?"
            r"calls)|you to (?:call|ring|phone)|(?:any )?(?:more )?calls)))[^.!?,]{0,30}",
        ),
        (
            "contact:time",
            r"(?:best (?:time )?(?:to (?:call|reach|get) me|time)|(?:call|ring|reach|"
            r"try) me (?:any ?time )?(?:after|before|only))(?![^.!?]{0,30}(?:tomorrow|today|"
            r"tonight))[^.!?]{2,45}",
        ),
        (
            "contact:channel",
            r"(?:i don't (?:do|use|have|check) (?:email|e-mail|whatsapp|texts?|voicemail|the internet|"
            r"a smartphone)|(?:i )?(?:prefer|i'd rather have) (?:to be )?(?:texts?|text messages|email|"
            r"e-mail|emails|phone calls|a call|post|letters|whatsapp)|don't (?:call|email|"
            r"text) me(?! (?:back|yet|today))|please (?:always )?(?:text|email) (?:me )?(?:instead|"
            r"rather than))[^.!?,]{0,40}",
        ),
        (
            "schedule",
            r"(?:i'm|i am|we're|we are|i|we) (?:always |usually |normally |only )?(?:home|in|at work|"
            r"at home|there|closed|open|work|teach|off|away)(?: [^.!?,]{0,25})?(?:every (?:weekday|day|"
            r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|morning|evening)|on (?:mon|tues|"
            r"wednes|thurs|fri|satur|sun)days|weekdays|weekends|(?:in the )?(?:mornings|evenings|"
            r"afternoons)|nights)[^.!?,]{0,25}",
        ),
        (
            "preference",
            r"(?:i|we) (?:prefer|always (?:use|buy|order|pay|take|want|get)|never (?:use|buy|order|eat|"
            r"drink|pay)|don't (?:eat|drink)|only (?:use|buy|eat|drink|pay|deal))(?! (?:it|that|"
            r"this) )[^.!?]{3,60}",
        ),
        (
            "income",
            r"(?:i'm|i am|we're|we are|living) on (?:a|an|my) (?:fixed income|pension|tight budget|"
            r"state pension)",
        ),
        (
            "supplier",
            r"(?:we|i) (?:currently |now |already |used to )?(?:buy|order|get (?:it|them|ours|our \w{3,12})|"
            r"source|deal) (?:\w{3,9} )?(?:from|with) (?!you)[^.!?,]{3,40}",
        ),
        (
            "plan",
            rf"(?:i'm|we're|i am|we are|i|we|my \w{{3,9}}(?:'s| is))(?: also|"
            rf" both)? (?:\w{{2,6}} )?(?:opening|open|moving|move|getting|expanding|expand|launching|launch|"
            rf"planning|plan|starting|start|retiring|retire|hiring|building|build|adding|closing|selling|"
            rf"buying|having|going|leaving|turning|getting married)(?! (?:to call|to pay|crazy|"
            rf"nowhere))[^.!?]{{0,50}} (?:in|by|from|next|this|after|before|around|on)(?: (?:the )?(?:early|"
            rf"late|mid|start of|end of))? ?{_MONTH}{_E}[^.!?]{{0,40}}",
        ),
        ("plan", rf"(?:getting|opening|moving|next job)[^.!?]{{0,50}} (?:in|from|by) {_MONTH}{_E}[^.!?]{{0,40}}"),
        (
            "decides",
            r"(?:my (?:husband|wife|partner|boss|accountant|business partner|manager)|our (?:owner|director|"
            r"accountant|manager|it guy|cfo|ceo|boss)) (?:decides|handles|signs|makes the (?:call|decision)|"
            r"takes care|does the books)[^.!?]{0,50}",
        ),
    )
)
ADDRESS = re.compile(
    rf"{_B}(?:(?:flat|unit|apartment|apt|suite) [a-z0-9]{{1,6}},? )?(?:\d{{1,6}}[a-z]?|"
    rf"{_COUNT}(?:[- ](?:{_COUNT}|oh)){{0,3}}) (?:(?:north|south|east|west|n|s|e|w|old|"
    rf"new) )?(?:[a-z'-]{{2,20}} ){{1,3}}{_STREET}{_E}(?:,? (?:apartment|apt|unit|flat|"
    rf"suite) [a-z0-9]{{1,6}})?"
)
EMAIL_SPOKEN = re.compile(
    r"[a-z0-9._-]{1,30}(?: (?:dot|dash|underscore) [a-z0-9]{1,20}){0,3} at [a-z0-9-]{2,30}(?: dot [a-z]{2,10}){1,3}"
    + _E
)
TAX_NUMBER = re.compile(r"(?:vat|tax id|ein)(?: number| no\.?)?(?: is)?:? (?P<fact>[a-z]{0,2}[ ]?\d[\d -]{6,14}\d)")
ASKS_ADDRESS = re.compile(
    r"address|where (?:are you|do you live|should we|is it going)|which (?:city|town)|zip|postcode"
)
ASKS_TAX = re.compile(_B + r"(?:vat|tax id|ein)" + _E)
ASKS_PHONE = re.compile(
    r"phone|(?:best|contact|good|callback|call-back|mobile|cell|new) number|reach you|call you|cell|mobile|"
    r"(?:what|which) number(?:'s| is) (?:best|good|better)|number (?:should|can|do) (?:i|we) (?:call|ring|use|put)"
)
NO_FACT = re.compile(
    _B
    + r"(?:if|would|could|should|maybe|might|suppose|imagine|wish|problem|issue|error|question|you have|your|used to)"
    + _E
)
LEAD = re.compile(
    r"(?:well|so|and|but|yeah|yes|no|oh|uh|um|er|look|listen|like|because|'cause|cause|actually|i mean|"
    r"you know|right|okay|ok|also|plus|then|sure|honestly|anyway|the thing is|just|that|since|"
    r"as|remember|note|mind)[,.: ]{1,3}",
    re.IGNORECASE,
)
LABELS = {"address": "Address", "email": "Email", "phone": "Phone", "tax_number": "Tax number"}
