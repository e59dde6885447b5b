"""English sentences that hold a category's key: examples to learn from."""

EXAMPLES = {
    "contact_outcome": """
the customer you are calling isn't available
we can't take your call right now, leave a message after the beep
all of our team are on other calls
there are five callers ahead of you
I can't hear you, I'll hang up
""",
    "dial_hint": """
press two for accounts or hold for an operator
our hours are nine to five, please ring back then
he's back after lunch, try him then
I'll ring back on Wednesday afternoon
for anything urgent ring the duty number
dial the extension if you know it
""",
    "deal_type": """
we want to lease two vans
it's for a yearly maintenance contract
we'd be buying wholesale for three shops
just a one off clean before we move out
""",
    "funnel_stage": """
I'll send the proposal over and you can show it to your partner
shall I book the survey
the contract is with you for signature
are you ready to go ahead or still looking
we're only collecting prices, the decision is in the autumn
do you want it or not
""",
    "offer": """
installed it comes to four thousand two hundred
it's forty a month and the first month is free
I can do you the basic package at ninety nine, everything included
two lessons a week, eighty pounds a month
the cottage is one twenty a night with breakfast
sixty a square metre all in
there's fifteen percent off if you pay for the year
we put it in free and you only pay for what you use
half an hour is twenty, or thirty five for both of them
""",
    "objection": """
that's a lot of money, we weren't expecting that
ooh, that's steep, it used to be half
that's more than my pension allows
the budget's gone for this year
my wife won't like it, I'd have to ask
we got stung with something like that before
cheap ones always break
we've been quoted less elsewhere
I'm not sure I trust it, the reviews are mixed
it sounds complicated, I doubt we'd use it
you're a long way out for us
now isn't the time
we're happy with what we have
we don't want to be tied into a long contract
""",
    "agreement": """
good, we'll do it that way
fine, go ahead and book it
Wednesday works for us
I can live with that, I'll stay
now we're talking, it's a yes from me
right, we'll renew for the year
put me down for one, send the invoice
I'm not promising anything, I'll think about it
done, see you Friday
that's closed from the first, you'll get it in writing
""",
    "competitors": """
we get it from another supplier at the moment
the salon next door asks twenty
another firm quoted us ninety
we use your competitor's software
we've got one already from someone else
a lady I know does it for less
we're comparing you with two others
last year we went with the people down the road
""",
    "next_touch_at": """
let's speak Thursday at eleven
you're booked in for Saturday at ten
our engineer will ring you on Monday
so the same hour next Monday
the surveyor will be with you Tuesday between two and four
I'll call on the first, after lunch
see you tomorrow at half past six
next meeting is the second, ten o'clock
so that's Friday the third, quarter past four
""",
    "churn_risk": """
I don't think we'll be renewing this year
we've had a cheaper offer and may switch
I'm moving and won't be able to come
the person I came for has left
we hardly use it, why pay
I want to end it
you put the price up and it doesn't work for us
to be honest I wasn't impressed
we can't afford it any more
I don't see the point in paying for something I can't use
""",
    "outcome": """
it works now, thank you
that's done it, I can see it
oh that's easier
you're booked, the engineer comes tomorrow between ten and two
I've cancelled that and the money goes back on your card
we've recalculated and it's four hundred now
I'm putting in a request to have the meter checked
we won't cut anything off until the twentieth
I'll pay on Friday when my wages are in
the corrected invoice goes to you today
we don't issue those
a replacement leaves here this afternoon
that's not acceptable to us
we'll swap it with the next delivery and take the faulty ones back
the delivery is moved to Saturday
the payment went this morning
that's sorted then, the customer agreed
""",
    "urgency": """
it's urgent, I've got people waiting
every hour it's down is costing us
I need it by tonight, tomorrow is too late
we open on Saturday
the report is due today
we can't work without it
I've a newborn here and no water
no later than Wednesday or we get fined
it has to be today, my daughter has an exam
there's a queue out the door
it can't wait, my father is in a chair and needs the lift
""",
    "resolution": """
go to settings, then access, and press add
unplug it for five minutes and plug it back in
pick the other mode and it'll count right
it needs an engineer, the cable's damaged
we'll ship a replacement today
I've reset your password, use the new link
you can carry on offline and it'll sync later
the certificate expired and I've renewed it
click the three dots, then split
sign in with the number, not with the mail address
change it under the account tab and it comes back
""",
    "disputes": """
what's all that for, there are three of us here
I don't owe you anything, it's been paid
why should we pay for something we didn't use
the job wasn't done so I'm not paying
I sent the money back in January
that sum is not what we agreed
nobody told us about that fee
you've charged us for an extra month
the work isn't finished and we won't sign it off
""",
    "order_status": """
your order is packed and waiting to go
it's in the warehouse, held up by the van
found it, three items, paid
it came yesterday but not all of it
it's still being made, another week
one of the parcels was returned to us
as I understand it the goods never left your place
so that's forty roses for Saturday
""",
    "documents": """
there was no delivery note with it
please send the certificate for the batch
I'll post the invoice and the packing list
they need the original, a scan won't do
the manual and the warranty card were missing
customs want the declaration
""",
    "delivery_status": """
nobody turned up and nobody rang
it's marked as delivered at two o'clock
it's sitting at the terminal waiting to be transferred
the driver has left and should be an hour
the lorry broke down on the way
the courier couldn't get hold of anybody
the tracking hasn't moved since Monday
only half of it came yesterday
""",
    "constraints": """
not before two please, I work nights
use the back gate, a big truck can't turn
there's no lift and it's the fifth floor, send two people
we've no forklift so it needs a tail lift
you need a pass to get on site
we're shut for lunch from one to two
don't send it by ordinary post
don't ring the bell, the baby sleeps
""",
    "severity": """
I'm standing in an empty house with nothing to sleep on
I haven't slept for ten days because of it
we broke down on the motorway with the children in the car
the whole site has stopped and the crew is idle
the party was ruined and people left
it's smashed to bits and can't be mended
my child was burned and we went to hospital
there's four hundred worth of damage, the carpet is finished
it's the third time this month
""",
    "requested_resolution": """
I want all my money back
I want it done again for free
replace the lot and cover our losses
take the second charge off
I want an apology in writing
I don't want that driver near us again
you can pay for the tow and the taxi
I expect something off the bill for a ruined evening
just give me the money, I don't want another one
""",
    "escalation": """
get me your manager
put me through to whoever is in charge
I'm going to my solicitor and trading standards
I'll tell everyone online
the head of the shop will call you in person
this goes to our director today
it's the claims department that decides
you can take it to the ombudsman
""",
    "agenda": """
three things today, holidays, the till and the new van
we're here to talk about the stockroom
main thing is the wedding on Saturday, then the rota
the fridge broke down again last night
""",
    "decisions": """
right, decided, we change supplier
we'll go with the first one and turn the rest down
so we launch on Monday
leave it as it is and wait for the numbers
four days on and two off, that's settled
we hire a second one if the budget holds
we leave the plan as it is
""",
}
