"""English patterns of how people are reached, how they want things and what they plan."""

from __future__ import annotations

import re

from ingest.analysis.rules.facts_en_told import BEGINS, DATE, ENDS, JOB, MONTH

RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (key, re.compile(BEGINS + "(?:" + pattern + ")"))
    for key, pattern in (
        # How they are reached and how they want things.
        (
            "contact:channel",
            r"(?:landline|mobile|cell|text|texts|email|whatsapp|here|post|phone)(?:'?s| is| are|ing is) "
            r"(?:better|best|easier|fine for me|the only)[^.!?]{0,60}",
        ),
        (
            "contact:channel",
            r"(?:i|we) (?:don't|dont|do not|never|can't|won't) (?:do|check|use|read|answer|pick up|get|like) (?:it "
            r"online|online|emails?|the (?:phone|app|portal|landline)|texts?|calls|voicemails?|whatsapp|computers|"
            r"apps)"
            r"[^.!?]{0,40}",
        ),
        (
            "contact:channel",
            r"(?:not the (?:mobile|landline|cell|email|office)|no time for computers|large print|in braille|"
            r"by post|on paper|paper (?:bills?|copies|statements?))[^.!?]{0,60}",
        ),
        (
            "contact:person",
            r"(?:my (?:husband|wife|son|daughter|assistant|partner|accountant|bookkeeper)(?:'?ll| will) (?:do|"
            r"handle|sort|send|sign)|everything (?:to do )?with [^.!?]{3,20} goes to|(?:goes|send (?:it|"
            r"them)) to (?:my|our) "
            r"(?:accountant|bookkeeper|assistant|office))[^.!?]{0,60}",
        ),
        (
            "decides",
            r"(?:[a-z]{3,15}'?s|(?:he|she)'?s|i'?m|[a-z]{3,15} is) the (?:owner|boss|treasurer|caretaker|landlord|"
            r"executor|account holder|site manager|key ?holder)[^.!?]{0,40}",
        ),
        (
            "company:change",
            r"(?:[a-z]{3,15}|he|she) (?:has )?(?:retired|left the company|no longer works|doesn't work here|isn't "
            r"with us|passed away)[^.!?]{0,50}",
        ),
        (
            "preference",
            r"(?:i|we) (?:only|always|never|can't|cannot|don't) (?:eat|drink|take|wear|use|fly|stay|sit|book|"
            r"order|buy|get)(?! (?:it|that|this|to|the|a|an|any|into|through|why)\b)[^.!?]{3,50}",
        ),
        (
            "preference",
            r"(?:we|i) (?:pay|want|need) (?:\w{2,8} )?(?:monthly|quarterly|yearly|annually|by (?:check|cheque|"
            r"transfer|invoice|card)|in (?:cash|advance|euros|dollars|pounds))[^.!?]{0,40}",
        ),
        (
            "preference",
            r"half (?:of )?(?:our|my|the) [a-z]{3,15} (?:are|is) (?:dairy|gluten|vegan|vegetarian|allergic|deaf|"
            r"over \d|pensioners|remote|part[- ]time|students|kids|from)[^.!?]{0,40}",
        ),
        (
            "health",
            r"(?:i|he|she|they|my \w{3,9}) (?:reacts?|react badly|comes? out in a rash|faints?) to [^.!?,]{3,30}",
        ),
        (
            "work:job",
            r"(?:i'?m|i am) an? (?:retired |trained |qualified |part-time |full-time |freelance |single |night |"
            r"\w{4,12} )?"
            rf"(?:{JOB}|[a-z]{{3,10}}(?:ist|ian|smith|keeper|maker|worker|minder|wright)|attendant|assistant|"
            rf"manager|director|"
            rf"(?:bus|truck|taxi|cab|van|lorry|delivery) driver|(?:primary|supply|school|music|piano|yoga) teacher|"
            rf"mum of|mom of|"
            rf"(?:flight|parking) attendant|postman|fisherman|foster (?:parent|carer)|grandmother|grandfather|"
            rf"pensioner){ENDS}[^.!?,]{{0,30}}",
        ),
        (
            "away",
            r"i(?:'?m| am)? (?:go|fly|flying|off|travel(?:l?ing)?|leave|leaving) (?:to|for) [a-z]{3,15} (?:tomorrow|"
            r"tonight|on|"
            r"this|next|in)[^.!?,]{0,30}",
        ),
        (
            "health",
            r"(?:i'?m|he'?s|she'?s) (?:left[- ]handed|dyslexic|colou?r[- ]?blind|housebound|epileptic|recovering|"
            r"in a cast)[^.!?,]{0,30}",
        ),
        (
            "household",
            r"(?:i|he|she|mum|mom|dad) lives? (?:alone|on my own|by myself|on his own|on her own|with (?:my|his|her|"
            r"our))[^.!?,]{0,40}",
        ),
        (
            "company:year",
            r"our (?:fiscal year|financial year|year|lease|contract with \w{3,12}|season|term|budget)(?:'?s|"
            r" is)? (?:ends?|starts?|runs?|up|opens?|closes?)"
            r"[^.!?]{2,40}",
        ),
        (
            "assets",
            r"we'?ve had (?!no\b|enough|an? (?:problem|issue|outage|letter|email|call|delivery)|trouble|issues|"
            r"problems|this|that|nothing|to\b|it\b|two (?:calls|letters))"
            r"[^.!?]{3,30} (?:since|for) (?:last|over|about|\d|years|the)[^.!?]{2,30}",
        ),
        ("schedule", r"(?:i|we) can only (?:talk|do|come|take|make|be|get|meet|speak)[^.!?]{3,50}"),
        (
            "contact:channel",
            r"(?:my|the) (?:mobile|cell|phone|landline) (?:doesn't|does not|won't|never) (?:work|get signal|"
            r"ring) (?:at|in|up|out|here|from)[^.!?]{0,50}",
        ),
        (
            "plan",
            rf"(?:he|she|they|my \w{{3,12}}) (?:starts?|finish(?:es)?|graduates?|goes off to|"
            rf"turns?) [^.!?]{{0,30}}(?:in|on|next|this) {DATE}[^.!?]{{0,30}}",
        ),
        ("home:former", r"(?:since|when) (?:i|we) lived in [a-z]{3,15}"),
        ("pet", r"there'?s (?:a|two|three) (?P<what>dogs?|cats?|horses?)(?: [^.!?]{2,50})?"),
        (
            "contact:channel",
            r"(?:just |please |always |better )?(?:text|email|message|whatsapp) me,? (?:i never|i don't|i can't|"
            r"instead|rather|always|only|"
            r"not|never|don't)[^.!?]{0,50}",
        ),
        (
            "contact:channel",
            r"(?:use|send (?:it|them|everything)|goes|go) (?:to )?my (?:work|new|other|personal|private|old|"
            r"business) "
            r"(?:email|e-mail|number|mobile|address|phone)[^.!?]{0,40}",
        ),
        (
            "contact:change",
            r"(?:old|other|that) (?:one|number|email|address|mailbox)(?:'?s| is) (?:dead|gone|closed|no longer|"
            r"not in use|cancelled)[^.!?]{0,30}",
        ),
        (
            "decides",
            r"our (?:treasurer|director|owner|manager|accountant|bookkeeper|secretary|head|chef|foreman|it (?:guy|"
            r"person|man|lady)|"
            r"office manager|site manager|buyer)(?: is|,) (?!not|out|away|going|very|a |the |in |on |off |"
            r"so )[a-z]{2,12}[^.!?]{0,50}",
        ),
        (
            "access",
            r"(?:the |our )?(?:lane|drive|driveway|road|street|gate|door|stairs|staircase|hallway|doorway|bell|"
            r"buzzer|entrance)(?:'?s| is|s are) "
            r"(?:too |very |really |quite |always )?(?:tight|narrow|steep|low|locked|broken|round the back|"
            r"around the back|at the back|"
            r"at the side|shared|coded|private|unmade)[^.!?]{0,40}",
        ),
        (
            "access",
            r"(?:we|i) (?:get|take|have) (?:our )?deliver(?:ies|y) [^.!?]{0,10}(?:round|at|in|through|"
            r"around)[^.!?]{3,40}",
        ),
        (
            "car",
            r"(?:my|the|our) (?:van|car|truck|pickup|motor|bike)(?:'?s| is) an? [^.!?,]{3,40}|i drive an? (?!hard|"
            r"lot)[^.!?]{3,50}",
        ),
        # What they plan, with its time.
        (
            "plan",
            rf"(?:i'?m|we'?re|i am|we are|she'?s|he'?s|they'?re|my \w{{3,12}}(?:'?s| is)) (?:all |also |"
            rf"both )?(?:moving|"
            rf"opening|leaving|flying|getting|having|starting|closing|expanding|launching|retiring|hiring|adding|"
            rf"selling|"
            rf"buying|renovating|going|travel+ing|due|graduating|downsizing|switching|visiting|"
            rf"turning)[^.!?]{{0,45}} (?:on|in|by|from|"
            rf"until|till|next|this|before|after|around)(?: the)? ?{DATE}[^.!?]{{0,50}}",
        ),
        ("plan", rf"(?:she|he)(?:'?s| is) due (?:on |in )?{DATE}"),
        (
            "plan",
            rf"(?:from|in|by|starting|as of) (?:early |late |mid[- ])?{MONTH}{ENDS},? (?:we|i|our|it'?s|"
            rf"there) (?!paid|was|were|had|got|"
            rf"ordered|called|bought)[^.!?]{{4,60}}",
        ),
        (
            "plan",
            rf"(?:we|i|that one|it|they|the (?:new|second) \w{{3,12}})(?:'?ll| will)? (?:open|move|launch|need|"
            rf"leave|fly|start|"
            rf"ship|close|expand|be gone|be moving|be away|graduate|retire)s? [^.!?]{{0,35}}(?:in|on|from|by|until|"
            rf"next)(?: the end of| the)? "
            rf"?{DATE}[^.!?]{{0,40}}",
        ),
    )
)
