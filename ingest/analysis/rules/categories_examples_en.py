"""English sentences by intent, of the middle of conversations too, and small talk: examples to learn from."""

EXAMPLES = {
    "small_talk": """
she's a teacher, I'm retired, two grandchildren
hold on, let me find a pen
lovely, I'll wait for that then
it's raining cats and dogs here
what's the best number to reach you on
could I take your name please
my surname is with a P, and double R at the end
go ahead with the number, I'm writing it down
one moment, let me bring that up on the screen
good morning, how can I help
thanks ever so much, you have a lovely day
okay, got it, thank you
it's number forty two, the blue door
two two four, eight one six zero
sorry, I'm driving, the line's a bit bad
yes, that's right, exactly
no worries, it happens to all of us
we've lived here since two thousand and nine
we record our calls to train new people
that's the dog, don't mind him
is now a good time to talk
do you have a few minutes
have I caught you at a bad moment
right, hm, let me think
""",
    "support": """
what lights are showing on the front of the box
go into settings, then access, and tick the box at the bottom
I've raised it with the engineers and they're checking the logs
it's a known bug and the fix is in the next release
try another browser and clear the cache
give me remote access and I'll have a look
the engineer can come out, there's no charge under warranty
""",
    "incident": """
since we changed the router the camera says no signal
the lights flicker on the landing and there's a burning smell
the walk-in is at nine degrees and climbing, I'll lose the fish
the fan turns but it's all ice at the back
the barrier won't open, the app says session not found
the smoke alarm beeps every minute
the alarm keeps going off and won't reset
the scales are showing nonsense
the cameras stopped recording three days ago
the newsletter is stuck in the queue and won't send
the stock figures have doubled overnight
the radiators are stone cold but next door is fine
the van just clicks and won't start
there's water coming out from under the dishwasher
it shows me somebody else's account
the machine swallowed my card and shut down
""",
    "howto": """
is it possible to print two labels on one sheet
could I have a separate menu with other prices
where do I put the mileage, I'm self employed
and if I forgot last month's
how do I give someone view only access
where can I download last year's report
is there a way to make the discount apply by itself
can you talk me through adding a new pupil step by step
how do I reset the filter light after changing the cartridge
if I press that will it delete what was there before
can you set it so the parents only see their own child
""",
    "sales": """
that price includes delivery and fitting
please find our written quote attached: the larger trailer at ninety a week, the rate held for a year
the quote is good until the end of the month
the partners like the figure, a couple of points before we sign
I'll send you the contract with those changes
how many sites do you have and how many people would use it
I can knock something off if you take two
there's a basic one for two hundred and a better one for three fifty
that's a bit much, the lady down the road charges less
shall I draw up an invoice and hold it for you till Friday
come and have a look, I'll show you round
I'd need to talk to my husband first
you can spread it over six months at no interest
""",
    "sales_in": """
I teach ceramics and we want a second kiln, about a hundred litres, what have you got
would you build a summerhouse six by four and what's the damage
I have to get three quotes and you're the second
do you fit batteries on their own, we've already got panels
and with a floor, how much is that
that's dear, would we ever see it back
do you sell honey to hotels, about forty kilos a month
what would a marquee for a hundred with a floor come to
we want a night guard on the site, what are your rates
I'm after an electric bike, what makes yours better
saw your poster for guitar lessons, how much is an hour
we're doing up the office and need lights for twenty desks
looking for a present for my boss, anything under a hundred
what would a wedding cake for fifty people be
do you have storage units free and what do they cost
we're thinking of replacing the windows, what sort of price are we talking
could I rent a chainsaw for the weekend
what terms would you do if we ordered every week
my granddaughters want to learn, how much are the classes and which day
""",
    "sales_out": """
we do the laundry for small hotels and I see you've just opened
the machine costs you nothing and you get five percent of sales
we manage ourselves, we have two washers
I could do one load for nothing
I was going past, saw the queue and thought of you
your neighbour gave me your number, we look after a few gardens up your road
two minutes I promise, how are you doing the wages now
I'd have to see it in writing
if she ever goes on holiday we can step in
I see you've got three shops and wanted to show you a way to run stock in one place
who makes the decision on coffee over there
could I swing by for ten minutes with some samples
you left your details on our site, I wanted to see if it's still of interest
we're doing the first month free for new customers
we don't need anything, where did you get this number
we work with practices like yours and save them a few hours a week
do your guests get tea while they wait
we're fitting solar on two houses on your street this month
""",
    "retention": """
your cat's policy comes to an end on the second, did you get our letter
it's gone from nineteen to thirty one a month
there's one online for seventeen
with the higher excess it comes down to twenty three
our web guy wants us on his own server
the contract runs to the end of May and the boss is looking at others
we'd stay if the price goes back to last year's
that's my limit, I'll send the addendum
you've been with us three years so I'd like to give you a choice of two
shall I put that in writing and you decide at the weekend
your support runs out in three weeks, shall we carry on
we'll probably move to the free one, the boss is saving
for two years up front I can bring it down
what price would keep you with us
to be honest we had one foot out of the door, the lift kept breaking down
your hire agreement comes to its end in six weeks, are you content with the van
you're an old customer of ours, so on an eighteen month term I could make it sixty instead of eighty
we'd take a month off for the time it was out of order if you stay
your licence runs out on the fourteenth, shall we renew for the same number of seats
we've been offered the same thing thirty percent cheaper
if you pay before the month is out we'll keep last year's price
how many seats do you really use, we could drop the rest
your cover is about to lapse, shall I price up the new year
you haven't ordered in a while, was something wrong
I could put you on hold for two months instead of closing it
the price goes up at renewal and we're looking around
""",
    "leaving": """
we've sold the cottage, take it off the alarm contract
please take me off unlimited, the doctor says no more
I won't need the number any more, close it
we're shutting the shop, you can have the terminals back
stop sending me the magazine
so that stops on the fifteenth and we return what's left
we'd like to give notice, we don't need it any longer
please collect the machines, we've had our own put in
I'd like to end my membership, I'm moving away
stop taking the money, I don't want to pay any more
I see no point in paying for a place I never go to
please close it from the first of the month
how do I leave and get the balance back
we need it in writing that the agreement has ended
unsubscribe me and remove my card
is there a notice period if I leave now
""",
    "billing": """
a twelve minute ride and you've taken eighty nine pounds
she was off sick for two weeks and we still paid for lunches
could I have a statement for the tax people
I ended the trip, I have a screenshot, why did it charge
that was a fault on our side, we've returned the difference
the meter says nothing and the bill says two hundred
the statement says ninety four and it's usually thirty one
the bank returned two payments so they've come out together
your invoice has VAT on it but you're not registered
I've taken the late fee off
the invoice shows thirty one seats and we have twenty four
why is this month's bill twice the last one
I need the March invoice in the new company name
our statement and yours are four hundred apart
you took it twice, please give one back
which rate did you use for the water, it's gone through the roof
we paid last week, please mark it settled
our details have changed, could you reissue the invoice
what's the fee for, it isn't in the contract
I'll credit the difference and send you a corrected copy
""",
    "collection": """
a gentle nudge about the banners, it was due on the first and it's now the nineteenth
the work was signed off, it's day fourteen, please give us a date
our bookkeeper changed, it's in the run for Thursday
our treasurer is in hospital and nobody else can sign
is anything holding the payment up
two months on the unit are showing unpaid
our own customer hasn't paid us yet
I could do sixty now and the rest when I'm back at work
if nothing comes in by the end of the month the unit gets locked
we haven't had a payment from you for June and July
there's an outstanding balance of four hundred, when could you clear it
nobody's threatening you, I'm ringing so it doesn't get cut off
money's tight, my wages are late, could I do it in bits
I'll put a hold on the account until the fifteenth
you promised us a payment on Friday and it hasn't arrived
it's twenty days overdue and late fees apply
we can split what you owe over three months
the loan hasn't been repaid, the last instalment was in May
could you manage half of it this week
the transfer went out yesterday, you should see it tomorrow
""",
    "order_new": """
add a box of paper and a toner to that
ship us two hundred bags of cement by Wednesday
I'd like to place an order for delivery, two large pizzas
item forty on the list, thirty of them, we'll collect
I need a five ton truck to pick up in Reading
same again as last time but two kilos of coffee
""",
    "booking": """
we need the yearly inspection of two lifts ordered, they run fine
can you clip my poodle this week
she's six and we'd like violin lessons, do you take beginners
a trial lesson could be Wednesday at five or Saturday at ten
that's you down for Saturday, ten o'clock
could the sweep come before winter
the sauna for six on Sunday please
I need an electrician to move a light
can he start lessons with you in March
I'd like the yearly check done and new codes set
could you board my cat for two weeks, is there room
are you free on the twentieth for a graduation shoot
the piano needs tuning, when is he free
could a solicitor come to my gran's house
we've just moved in and want the chimney swept
I need someone to look at the boiler, it bangs and the pressure drops
my dog hasn't eaten for two days, could somebody see him
put me down for the dentist on Tuesday after six
have you got a slot today for a haircut
I'd like a surveyor to come round and measure
could I get an MOT on Saturday morning
my little one has a cough, can the doctor see her today
I'd like to apply for a parking permit
we want to have a birthday party with you, fifteen kids
my son wants to learn to swim, how do we sign him up
I could do Tuesday after ten or Wednesday between one and three
a single call out is seventy for the first hour
""",
    "status": """
could I swap two of the boxes in my order if it hasn't been packed
the address on our order is the old one, can you still alter it
the armchair you collected in January, is there any news
we're short of the fabric, the mill is sending it on the ninth
I ordered curtains, when can I have them
your glasses are in, you can pick them up
the lorry with your order is held at the border
I've got a crate for you and the road's up, how do I get to you
you'll need to sign for it, I'll leave it by the gate
I'll ring you the day it lands
you told us six weeks for the blinds and we're at nine
is the dress ready or still being made
they dropped the bricks in the wrong yard
the seedlings came frozen, who'll replace them
my parcel has been in the sorting office since Friday
only some of the books arrived
leave it with the neighbour please, I'm at work
it's been carved and we're waiting on the permit
when will the kitchen be finished, we're waiting on the worktop
where's my sofa, you said this week
what time is the truck coming, we've been waiting since the morning
the note says ten and you dropped eight
can you move the delivery to the evening, I'll be out
your load is on its way and should be at the depot tomorrow
the driver couldn't get an answer and took it back
change the delivery address please, we've moved
it's packed but held up because of the lorry
we need the driver's name and plate for the gate
""",
    "case": """
I dropped the watch off last month, any idea when it's done
nobody from the technical team has been in touch about it
I sent the papers in two weeks ago, is there a decision
I'm ringing about the ticket you opened on Monday
the engineer said he'd come back with the part and vanished
how's my repair coming on, is the phone ready
you said you'd send me an answer and I'm still waiting
any news on my claim
""",
    "cancel": """
let's leave it for Saturday, my husband's back has gone
the christening is put back, we've all got flu
shall I return the deposit or keep it for another time
the trip isn't happening, we didn't get the numbers
don't come tomorrow, the landlord has said no
we've changed our minds, please don't send it out
I haven't started yet so there's nothing to pay
please hold that translation, they don't need it after all
the party's off, the groom broke his leg
no tutor tomorrow, she's at her gran's
we've started so we keep part of it and return the rest
call off the removal van, the seller hasn't moved out
the booking for the tenth to the fourteenth, please take it off
cancel tomorrow's appointment, I can't make it
we won't be travelling, the event has moved to September
there's a full refund if you cancel a week ahead
the money for the cancelled order goes back to your card
I ordered it by mistake, stop it before it ships
we don't need the van on Friday any more
I want to return the tickets and get my money back
I've cancelled the reservation, no charge
give our table to someone else, the guests aren't coming
""",
    "complaint": """
I've just picked up my dog and he's got a gash and nobody said a word
I want that covered and I want to know how it happened
the coach calls my son fat in front of everybody
you sent brown roses to a funeral
whoever packed it should be ashamed
if you hush it up I'm going to the council
I'm posting the photo so everyone can see
you've been messing me about for two months
they turned up drunk and hung the shelf crooked
your driver left my mother at the wrong place in the rain
the roof leaked on our bed and they told us to put up with it
the teacher shouts at the children, it isn't acceptable
your men broke our fence and pretend it was like that
I want him off the road and my fare back
they dropped the piano down the steps and then lied about it
your movers broke my mother's cabinet and were rude about it
we took a batch from you and half of it is scrap, the site is standing still
replace it or refund us and cover the downtime
get me the manager, I'm not talking to you
I'll tell the newspapers and leave a review everywhere I can
you're hopeless, all of you, it's the third time
that's negligence and somebody has to answer for it
the dry cleaner's ruined my coat
you left my child on the bus after the club, do you understand
the service was appalling and I expect compensation
your man left mud everywhere, swore at me and walked off
sorry doesn't fix it, what are you going to do about it
formal complaint about quality, report and photos attached
""",
    "apology": """
I'm so sorry, that should never have happened
I apologise for how you were treated and I'll look into it
we'd like to make it up to you and cover the damage
I'll pass your complaint to the manager and he'll call you himself
""",
    "internal": """
the margin's thin already, we can't absorb that
get a trial batch from them and we'll see for two weeks
I'll call the repair man, the cold room's warming up again
that's everything, back here Monday at nine
three things today, the van, the gate and the holidays
I'll load at six and you sign it in
the customer's fine with one o'clock, tell the driver
who do we put in for Lena while she's off
the budget wasn't approved so we cut the ads
the machine failed its test again, do we fix it or replace it
we need to decide what to do about that client
I'll speak to accounts and have the sheet done by Wednesday
""",
}
