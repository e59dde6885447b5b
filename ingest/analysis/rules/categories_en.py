"""English words that tell what a conversation is about, by intent. The notation is that of `categories_cues`."""

CUES = {
    "no_contact": """
4: is closed, we open again, open again at, we are closed, closed for
4: leave us a message, leave me a, ring you back, ill ring you back, get back to you as soon, under a car
4: cant get to the phone, cant come to the phone
4: you have called, youve called, is unavailable, please try later, say something after, gone to voicemail
4: dialled it wrong, dialed wrong, wrong house, no one here by, nobody here by, theres no _ here
4: you are number, number _ in the queue, queue, welcome to, after the tone|beep, at the tone, leave _ message
4: leave your name, voicemail, voice mail, mailbox is full, answering machine, not available to take
4: cant take your call, cannot take your call, unable to take your call
4: cannot be reached, cant be reached, is not available right now, the number you have, you have dialed
4: not in service, has been disconnected, cannot be completed as dialed, please try again later, the person you are
4: the person youre
4: have reached the, youve reached, record your message, caller hung, the party you, subscriber
4: call has been forwarded, google assistant, screening service, state your name
3: press one|two|three|four|five|zero|nine|1|2|3|4|5|0|9|pound|star|hash, main menu, your call is important
3: all _ agents|representatives|operators|advisors are, stay on the line, remain on the line, please hold
3: you are number, office hours are, our offices are closed, are currently closed
3: can you hear me, cant hear you, i cant hear, youre breaking up, you there, anyone there, anybody there
3: line dropped, wrong number, tried to reach you, tried calling, sorry i missed you, missed your call, out of office
3: automatic reply, on annual leave
2: hello hello, hello _ hello
""",
    "internal": """
3: three things, first thing on, whos covering, who covers
3: can do monday|tuesday|wednesday|thursday|friday|saturday|sunday, bank holiday, day off, late shift, early shift
3: you do, numbers for the week, stock count, holiday requests
4: standup, stand up meeting, sprint, retro, retrospective, backlog, action items, action item, one on one, 1 on 1
4: agenda, all hands, minutes of, go round the table, go around the table, go round the room, around the room
4: kickoff, kick off, whos taking notes
4: whos on, who wants to take, whos taking, whos got, who owns, blockers, blocked on, any blockers, story points
4: pull request, code review, deploy, merge, rollout, release date, roadmap, okr, okrs, kpi, kpis, headcount
4: pipeline review
3: morning everyone, hi everyone, hey everyone, hi all, hi team, hey team, morning all, morning team, hi folks
3: lets get started, lets start, shall we start, is everyone here, everybody here, waiting for, next item, last item
3: next up, moving on, wrap up, lets wrap, parking lot
3: ill take that, ill own, ill pick that up, can you take, can you pick, you take, on my plate, whats on your plate
3: yesterday i, today ill, this quarter, next quarter, quarterly, budget, hiring, candidate, interview*
3: onboarding the new, shift rota, rota, rosters, stocktake, payroll, vendor, contractor, supplier
2: the client, the customer, our client, our customers, clients are, customers are, from sales, from marketing
2: from legal, from finance, from engineering, the team, our team, my team, leadership, the board, decided, decision
2: lets decide, agreed then, so we agree, lets go with, offsite, slack, jira, spreadsheet, deck, slides
2: what do you guys, you guys, how are you feeling about, feedback for me, your goals, career, promotion, workload
2: anyone else, does anyone, anybody else, everyone okay
""",
    "sales": """
3: allow, plus vat, first month, on us, lock you in, best time to, the committee, run that by
3: quote, quotation, pricing, price list, proposal, demo, free trial, trial, pilot, bulk discount, volume discount
3: competitor, other quotes, other options, shop around, shopping around, compare, think it over, think about it
3: talk it over, out of our budget, over budget, too expensive, bit steep, a lot of money, pricey
3: financing, lease, down payment, test drive, whats included, estimate, site survey, measure, contract ready
3: draw up, walkthrough, walk you through the platform, seats, licenses, tier, list price, minimum order
2: plan, plans, package, discount, offer, deal, price, cost, costs, per month, per user, a month, budget, upfront
2: deposit, warranty, in stock, sign up, promo, promotion, best value, good fit, who makes the decision
2: decision maker
3: our|the|your|written offer, offer in writing, offer|quote stands|ends|is valid|is good, price is fixed, fixed for
3: before we sign, ready to sign, well sign, we will sign, when we sign, if you sign, send _ contract with
""",
    "sales_in": """
4: do you cover, what sort of figure, what figure, figure should, needs doing
4: needs sanding|painting|replacing|fixing, two other firms|quotes, other firms, getting quotes, looking at getting
4: how much do you, whats it cost, what does that run
4: what would you suggest, what would you recommend, rough idea, rough price, come to, fitted, trade price
4: putting in, what do you have, what have you got, opening a, thinking of, thinking about, choosing between
4: why should we, how soon could, for sale, roughly what, going rate, what do you charge, do you charge
4: interested in, looking for, looking to, looking at, thinking about getting|buying
4: thinking of getting|buying|switching, want to buy, like to buy, like to purchase, want to purchase, want to get
4: like to get, considering, shopping for, in the market for, planning to buy, we need a new, saw your ad, saw your
4: came across your, found you, recommended you, a friend recommended, got your name from, got panels from
3: how much is|does|do|would|are|for, what does it cost, what would it cost, whats the price
3: what are your prices|rates, whats your rate|price, ballpark, do you sell|carry|offer|have|do|make, can you do
3: do you guys do, would like to know more, tell me more about, what do you recommend, can i get a quote, get a quote
3: need a quote, price for, enquir*, inquir*, what options, which one would
""",
    "sales_out": """
4: over at, we already have, weve got a, can i ask who, who do you have, id have to ask, have to ask the
4: whats the best time, first months on us, wed do
4: you dont know me, driving past, i noticed, noticed the, drop me a leaflet|line|email, send me something
4: just to compare, nothing up front, early bird, youve been approved, looks after that, deals with that
4: who do you use, happy with them, have you thought about, given any thought, ever considered, would you like to try
4: stop calling
4: the reason im calling, reason for my call, reason i called, calling to introduce, calling to offer
4: calling to see if, wanted to introduce, wed like to offer, like to offer you, i have an offer, special offer
4: exclusive offer, limited time, pre approved, preapproved, reaching out, i noticed you, i noticed your
4: noticed that your, just following up on the brochure, i came across your company
2: good time to talk, good time, bad time, catch you at, got a minute, have a minute, a couple of minutes
2: few minutes
4: two minutes, quick minute, thirty seconds, 30 seconds, take up much of your time, cold call, sales call
4: not interested, take me off, off your list, do not call, dont call me, how did you get my
4: where did you get my number, unsubscribe
4: who handles, who looks after, who is in charge of, whos in charge of, whos responsible for, person who handles
4: person responsible, are you the person, who are you using|with, what are you using, currently using
4: current provider|supplier|vendor|carrier, we help companies|businesses|teams, we work with companies|businesses
4: we supply, we specialize, we specialise, downloaded our, visited our booth, met at the, trade show
4: would you be open to, fifteen minute call, 15 minute call, set up a call, schedule a demo, book a demo
""",
    "retention": """
6: hosting|domain|cover|contract|policy|lease|licence|license|agreement up on|for|in
6: is up on|in, before the invoice goes
6: subscription|licence|license|contract|policy|cover|membership|plan runs|expires|ends|lapses, about to lapse
6: up for renewal, due for renewal, comes up for, for another year, keep you on, runs out on|in|next
6: contract|agreement|rental|lease|subscription|licence|license|membership|policy _ ends|finishes|expires|lapses
6: thinking about|of leaving|switching|moving|stopping|cancelling, considering leaving|switching, before you leave
5: been with us|you for, with us|you _ two|three|four|five|six|many|several|ten years, if you sign for, sign for another
5: sign for twelve|six|eighteen|two|three months|years, price for you will, see if you _ stay, give us a reason
3: another|other company|provider|supplier|firm offers|offered|charges, what we pay now|today, not really happy
3: you _ happy with the|it|us|our, fixed for twelve|six|two|three months|years
4: coming up in, going from, may as well go to, lock you in, goes up to, went up to, stay put, tempting
4: carry on, finish on, finishes on, rolls over, roll over, your twelve months, your year, another twelve
4: for the price of, budget cuts, put the price up, put up the price, same again next year, going elsewhere
4: shopping for insurance, cover with us, due for, stay another, reconsidering, havent been in, havent logged
4: last logged, ends on, ends in
5: renew, renewal, renewing, renewed, auto renew, up for renewal, contract is up, contract ends, contract expires
5: expires, expiring, expiry, runs out, is ending, coming to an end, coming up for, term ends, another year
5: another term, extend _ contract|subscription|agreement|lease|membership|policy, lapse, lapsed
5: switching to, switch to another|a different, switch providers, moving to another|a different
5: going with another|someone else, going to leave, want to leave, thinking of leaving, leaving you, leave us
5: lose you, losing you, sorry to see you go, stay with us, staying with us, make you stay, keep you, win you back
5: come back to us, havent seen you, stopped using, not using it, hardly use, barely use
4: sad to see, part ways, come back, your plan ends, your year, reconsider, change your mind, win back
4: loyal customer, been with us, been a customer, been a member, loyalty, retention, match their price
4: match that price, better offer from, better deal elsewhere, what would it take, price increase, price hike
4: gone up, put the price up, downgrade, pause your, churn
""",
    "leaving": """
6: kill|drop|scrap|quit|ditch my|our|the membership|subscription|plan|account|contract, cancellation form
4: moving to
6: give notice, giving notice, hand in _ notice
6: end my|our, stop the _ service, close my|our, dont need _ any longer|more
6: as notice, end our|my|the _ rental|contract|agreement|plan|lease, earliest date, want to end, close our
7: stop my direct|payment|membership|subscription, stop the direct, stop our, moving abroad, moving away
7: moving house, days notice, notice period, need to stop, want out
5: take my card off, stop paying, stop charging, delete my profile|account, dont watch, dont use it, no longer need
5: how do we end, get out of my contract, get out of the contract, leave you, cancelling my
5: cancel _ subscription|membership|account|plan|contract|service|policy|auto
5: cancel my|our|the subscription|membership|account|plan|contract|service|policy, close _ account, terminate
5: termination, end _ contract|subscription|membership, stop _ subscription, not renew, wont be renewing, opt out
5: switch off auto, turn off auto, quit the gym, give notice, discontinue
""",
    "support": """
3: wifi, wi fi, broadband, extender, main box, hold the button, side button, ten seconds, unplug, plugged, unplugged
3: lights on, the telly, tv box
3: tech support, technical support, support team, help desk, helpdesk, it desk, reboot, restart, reset, reinstall
3: update, updated, firmware, router, modem, app, browser, cache, log in, login, logged, sign in, password, username
3: access, account settings, settings, configure, configuration, screenshot, server, integration, sync, driver
3: plugin, remote session, anydesk, teamviewer
3: technician, engineer, call out, callout, under warranty, warranty repair, service center, troubleshoot, diagnos*
3: error code, ticket, light is, lights, button, plug
2: menu, tab, screen, dashboard, printer, terminal, sensor, boiler, meter, thermostat, fridge, washer, dishwasher
2: camera, tablet, laptop, computer, two factor, verification code, api, dropdown
""",
    "incident": """
4: its like, used to be, the light is, orange light, red light, an orange one, a red one, no wifi, hasnt worked
4: quit working, isnt coming on
4: kicks me out, cuts out, cutting out, has stopped, stopped, keeps, gone down, went black, lukewarm, wont come, hums
4: melting, doesnt see, blocked, lost all, nothing happens, goes off, by itself, no picture, no dial, tripping
4: tripped, stuck, dead
2: wont, doesnt, isnt, arent, cant
5: not working, isnt working, doesnt work, dont work, wont work, stopped working, not loading, wont load, wont start
5: wont open, wont turn, wont print, wont connect, wont let me, wont charge, wont sync, wont boot, not letting me
5: doesnt let me, cant log, cannot log, cant sign in, cant get in, cant access, cannot access, locked out
5: not responding, not showing, not coming through, no longer works, not syncing
5: broken, broke, broke down, crash, crashes, crashed, crashing, crashed, freeze, freezes, frozen, froze, freezing up
5: glitch, bug, outage, down since, went down, is down, been down, keeps dropping, drops, error, errors
5: error message, fault, faulty, no internet, no signal, no power, no hot water, no heat, no heating, no water
5: no sound, no dial tone, lost connection, disconnects, cutting out, keeps cutting
5: leak, leaking, leaks, dripping, flooding, smoke, burning smell, sparks, jammed, stuck, blinking, flashing, beeping
5: buzzing, rattling, grinding, overheating, wont heat, not heating, not cooling, dead, blank screen, black screen
5: spinning, timed out, times out, really slow, so slow, failing, failed, malfunction, disappeared, vanished
5: gone missing from, blocked my, having trouble with, having a problem with, having issues, problem with the
5: issue with the, playing up, acting up, stopped printing|charging|heating|cooling|connecting|sending|syncing
""",
    "howto": """
5: what do i press, what do i click, taken over the, where do i put
5: cant work out, cant for the life, which button, where i click, where to click, what comes first, is there a cable
5: how does, how do, where do, what do i do to, can it do, can it be
5: how do i, how do we, how do you, how can i, how can we, how would i, how would we, how to, show me how
5: tell me how, explain how, walk me through, talk me through, where do i, where do we, where can i, where would i
5: cant figure out, cant work out, trying to figure out, trying to work out, not sure how, dont know how
5: is there a way to, is it possible to, can i set, step by step, instructions, tutorial, guide, training session
5: manual, what do i click
4: click on, click the, go to settings, go into, open the, on the left, on the right, top right, top left
4: bottom left, bottom right, corner, scroll down, tick the, check the box, checkbox, toggle, drop down, select
4: choose, gear icon, hit save, press save, type in, you should see, do you see, now you
""",
    "billing": """
4: why did you take, taken from my, never signed up, estimated read, put the money back, higher than, live alone
4: where does this, where does the, old company name, company name on, isnt showing, still isnt on, someone elses
4: show on my, send last, copy of my, came out of my
5: invoice, billed, bill, bills, billing, charged, overcharged, double charged, charged twice, charge on my, charges
5: statement, refund, refunded, credit note, remittance, purchase order number, po number, vat, tax, receipt
5: direct debit, bank transfer, wire, proof of payment, reconcil*, accounts payable, accounts department
5: accounts receivable
5: wrong amount, extra charge, unknown charge, dont recognize, dont recognise, prorated, pro rated, standing charge
5: meter reading, tariff, payment didnt go through, payment failed, payment was declined, card was declined, declined
5: doesnt match, dont match, doesnt add up, higher than usual, why is my, why was i
4: payment, late fee, due date, billing cycle, billing address, w9, w 9, net thirty, net 30, finance team
4: card ending, account balance
2: pay, paid, paying, autopay, balance, fee, fees, bookkeeper, bookkeeping, accountant, receipt, bank, card, month
""",
    "collection": """
6: showing unpaid, months unpaid, past due, overdue, if nothing comes in, balance of, outstanding, behind on, arrears
5: statement is still, still sitting at, clear a third|half|some, still outstanding, still showing unpaid, my client
6: months on the account, shut off date, shutoff date, cut off date, im showing, behind on, hold the shut
6: can you do half, do half, i get paid on, when i get paid, payday, catch up, two months behind
5: remains open, was due, is due, arrange transfer, on stop, our records show, please arrange, minimum payment
5: lost my job, nothing has arrived, hasnt been made, been made since, when might we, settled, before we can release
6: overdue, past due, outstanding balance|invoice|amount|payment|sum, arrears, in default, debt, owe, owed, owes
6: owing, collections, collection agency, debt collector, havent received payment, havent received your payment
6: havent paid, not been paid, hasnt been paid, unpaid, remains unpaid, missed payment, missed your payment
6: late payment, days late
5: payment plan, payment arrangement, pay in instal*, promise to pay, when can we expect payment|the
5: when can you pay, when will you pay|be able to pay, when can you make, settle the, settle your, settle up
5: bring your account, bring the account, suspend _ account|service, suspension, disconnect for non, legal action
5: credit rating, credit score, credit bureau, cash flow, partial payment, pay half, hardship, final notice, reminder
""",
    "order_new": """
4: dropped at, can i get a, can i get an, can i get two, dropped off at
4: tons, tonnes, drums, sacks, usual order, the usual, same account, to the same address, put me down for, bottles
4: send us another, can you send, picked up on, first thing, i want _ tons|boxes|cases|bags|pallets
5: place an order, place another order, want to order, like to order, need to order, id like to order, reorder
5: re order, same order as, repeat order, repeat our, put in an order, take my order, standing order for
5: we need _ cases|boxes|pallets|units|pieces|rolls|bags|crates, need a pickup, need a pick up, schedule a pickup
5: book a pickup, book a courier, collection from, arrange a delivery, ship a package, send a parcel, freight quote
5: need a truck
3: cases, boxes, pallets, units, crates, rolls, sku, part number, quantity, qty, dozen, delivery slot
3: add to the order, add to my order
""",
    "booking": """
4: id like _ done|checked|serviced|cleaned|looked, can get _ out to you, come out to, get someone out, need somebody out
5: how do we go about getting|booking, how do i go about getting|booking, go about getting|booking, test slot
5: first available, full name and date, date of birth, youll get a letter, turns seventeen|sixteen|eighteen|five|four
4: could you see, can you see her|him|me|us, due her|his|my, tooth, boosters, vaccin*, a place, is there a place
4: table for, are you free, do i need an appointment, what day could, when could you come|see|do|fit
4: when could i come, this week sometime, serviced, cleaned
5: make an appointment, book an appointment, an appointment, schedule an appointment, make a reservation
5: a reservation, book a table, book a room, reserve a, like to book, want to book, need to book, to book in
5: book in for, get in to see, see the doctor, see a doctor, see the dentist, new patient, apply for, application for
5: submit an application, register for, registration, enrol*, sign my son|daughter|kid|up, request a
5: put in a request, like to request, like to schedule, next opening, any openings, availability, any slots
5: available slot, earliest slot, soonest you have, first available, need one done, need it done, get it done
5: want it done, service done, get one done, have it serviced, need someone to come, need somebody to come
5: send someone, send somebody out, when can you come, could you come, can you come out, come and look
5: come and have a look, come take a look, fit me in, squeeze me in, fit us in, new service, new account
5: open an account, set up service, get set up, move in
4: any good, what time, what day, do you have time, double room, single room, check in on, checking in, nights
4: table for, cleaning and, checkup, check up, oil change, haircut, consultation, inspection, intake, waiting list
4: waitlist, trial lesson, intake form, permit
""",
    "status": """
4: ive a|got a|an _ for you, is on the van, come round by, picking it up, to collect, ready to collect, sign for it
4: you told|said _ weeks|days|monday|tuesday|wednesday|thursday|friday, were at
4: waiting on, waiting for the, supposed to
4: where is my, wheres my, any sign of, still hasnt, is it ready, when will it, parcel
4: was short, came short, on the note, two oclock van, left on the
4: would land, you said it would, is on its way, tomorrows wagon, left late
4: where are|is my|our|the, sitting in, carrier broke, be with you, out on the van, on the van, on the truck
4: meant to be, meant to come, was meant, were meant, supposed to be, supposed to come, instead of, the rest, loading
4: be there in half|twenty|ten, are you in, at the gate, still no tracking, will it definitely, be there by
4: came without, got the wrong, gate, drums
5: where is my, wheres my, where is our, wheres our, where is the
5: wheres the _ order|shipment|package|parcel|delivery|truck|driver, status of _ order|shipment|delivery|package
5: track, tracking, tracking number, order number, my order, our order, the order, order status, hasnt arrived
5: havent arrived, not arrived, didnt arrive, hasnt come, hasnt shown, never arrived, never came, not been delivered
5: havent received, hasnt been delivered, still waiting for, still waiting on
5: delivery, deliver, delivered, delivers, deliveries, shipment, shipped, ship, shipping, dispatch, dispatched
5: courier, driver, carrier, parcel, package, pallet, truck, depot, warehouse, backorder, back order, lead time, eta
5: estimated arrival, out for delivery, in transit, customs, held up, delayed, delay, reschedule the delivery
5: change the address, delivery address, delivery note, packing slip, bill of lading, waybill
4: wrong item, wrong size, wrong color, sent us the wrong, sent me the wrong, short shipped, missing from the order
4: missing items, missing, damaged in transit, return label, return it, send it back, exchange, replacement, swap it
4: stock, restock, certificate, data sheet, paperwork
""",
    "case": """
4: me again, its _ again, its been a week|month|fortnight, heard nothing, theres no answer, been silence
4: anything been decided, are in yet, my results, swapped, still open, chasing
5: my ticket, the ticket, ticket number, case number, reference number, following up, follow up on, any update
5: any updates, any news, any word, checking in on, check on the status, checking on, status of my, status of our
5: called last week|yesterday|on, called about this, spoke to someone, spoke with someone, spoke to _ last|yesterday
5: opened a ticket, raised a ticket, logged a ticket, said someone would call, promised a call, was told
5: supposed to call me, still havent heard, havent heard back, where are we with, where we are with
5: wheres my application, test results, results are, my application, is it ready, ready yet
""",
    "cancel": """
5: been put back|off, is put back|off, putting it off, is off, been postponed, got flu|covid|sick
5: hold off, dont bother, no need to, not needed
5: call off, called off, wont be needing, no longer need, changed our mind
5: scrap the, pull the order
5: trips off, is off, lose the deposit, lose my deposit, get the deposit back, weve had to, have to call it off
5: called off, postpone, push it back
5: stop order|the|my|our, wrong size, wont be coming, not coming, take us off, take me off the, dont send anything
5: return the tickets, found it elsewhere, is ill, calling it off, not going ahead
8: cancel _ po|purchase, cancel _ order|booking|reservation|appointment|delivery|trip|flight|ticket|visit|room
8: cancel my|our|the|that order|booking|reservation|appointment|delivery|trip|flight|ticket|visit|room, cancel it
8: need to cancel, want to cancel, like to cancel, have to cancel, cancellation, cancelled, canceled, cancel
8: call off
3: cant make it, wont be able to make it, plans changed, plans have changed, change of plans, changed my mind
3: changed our minds, dont need it anymore, no longer need, non refundable, nonrefundable, cancellation fee
3: cancellation policy
""",
    "complaint": """
6: left my, off the road, licensing people
6: fare back, no thanks to you, disgrace*, she|he sat|stood|waited _ hour|minutes
5: put you on, you people, your driver|man|men|lads|crew|girl|guy
5: wont be back, shrugged, im writing about my stay, nobody at the desk, no one at the desk, ashamed to read
5: your crew|boys|lads|drivers|movers|builders|fitters left|broke|dropped|scratched|pulled|laughed|damaged
5: passed round, passed around, passed from, those lads, that man, what happens to, is this normal, shes shaken
5: my mother, in a wheelchair, i want to know what, answer for, is this how you
5: expect an apology, should never have happened, mortified, hour late, you sent _ left|broke|ruined|damaged
5: claims team, deposit returned, to whom it may concern, left _ on my, and its ruined, put the phone down, mould
5: mold, official answer, sat for an hour, sat outside, waited an hour|two|over, promised one, in tears
5: who is going to pay, whos going to pay, not leaving it, never even, no one even, how you treat
7:
7: your driver|technician|guy|guys|plumber|engineer|staff _ threw|left|broke|scratched|damaged|dropped|refused
7: your driver|technician|guy|guys|plumber|engineer|staff _ shouted|swore|smashed|ruined|slammed|laughed|ignored
7: your driver|technician|guy|guys|plumber|engineer|staff _ hung|lied|yelled|insulted|cracked|tore|spilled
7: your driver|technician|guy|guys|plumber|engineer|staff _ drove|walked|kicked|cut|never
7: your waiter|waitress|nurse|installer|mechanic|courier|rep _ threw|left|broke|scratched|damaged|dropped|refused
7: your waiter|waitress|nurse|installer|mechanic|courier|rep _ shouted|swore|smashed|ruined|slammed|laughed|ignored
7: your waiter|waitress|nurse|installer|mechanic|courier|rep _ hung|lied|yelled|insulted|cracked|tore|spilled
7: your waiter|waitress|nurse|installer|mechanic|courier|rep _ drove|walked|kicked|cut|never
7: your colleague|crew|doctor|receptionist|agent|cleaner|movers _ threw|left|broke|scratched|damaged|dropped|refused
7: your colleague|crew|doctor|receptionist|agent|cleaner|movers _ shouted|swore|smashed|ruined|slammed|laughed|ignored
7: your colleague|crew|doctor|receptionist|agent|cleaner|movers _ hung|lied|yelled|insulted|cracked|tore|spilled
7: your colleague|crew|doctor|receptionist|agent|cleaner|movers _ drove|walked|kicked|cut|never
7: your people|team|lad|man|fella|woman _ threw|left|broke|scratched|damaged|dropped|refused
7: your people|team|lad|man|fella|woman _ shouted|swore|smashed|ruined|slammed|laughed|ignored
7: your people|team|lad|man|fella|woman _ hung|lied|yelled|insulted|cracked|tore|spilled
7: your people|team|lad|man|fella|woman _ drove|walked|kicked|cut|never
6: complaint, complain, complaining, formal complaint, unacceptable, disgraceful, outrageous, rude to, was rude
6: so rude, disrespectful, yelled at me, hung up on me, lied to, lying to me, misled, ombudsman
6: better business bureau, bbb, trading standards, consumer protection, regulator, lawyer, solicitor, attorney, sue
6: small claims
6: speak to a manager|supervisor, talk to a manager|supervisor, speak to your manager|supervisor|boss
6: speak to the manager|owner, speak with a manager|supervisor, your manager, your supervisor, supervisor, escalate
6: escalated, escalation, compensation, compensate, compensated, for my trouble, damages, demand
6: i want my money back, money back, full refund, bad review, one star, leave a review, go public, social media
6: never again, make this right, put this right, put it right
6: want to report, report _ behaviour|behavior|incident, bad experience, terrible experience, awful experience
6: not what we paid for, happened to us, happened to me, what are you going to do about, hold you responsible
6: your responsibility, opened _ claim, file _ claim, open _ claim, every reason to be, every right to be
6: not the standard, not the service, falls short, fell short
3: disgusting, appalling, appalled, ridiculous, scam, rip off, ripped off, cheated, fraud, idiots, clowns, thieves
3: thieving, liars, useless
4: horrible, terrible, awful, shocking, worst, furious, angry, upset, disappointed, disappointing, let down, fed up
4: sick of, sick and tired, had enough, nightmare, joke, embarrassing, humiliat*, nobody apologi*, no apology
4: third time, fourth time, ruined, scratched, smashed, damaged my, dirty, filthy, hair in, cockroach, food poisoning
4: negligen*, incompeten*, shambles, poor service, no one has, ignored, how dare, our fault, our mistake
4: apologise unreserved*, truly sorry, sincerely apologi*
""",
    "apology": """
5: im so sorry, i am so sorry, im terribly sorry, truly sorry, very sorry, sincerely sorry, so very sorry, mortified
5: apologise unreserved*, sincere apologies, my sincere, our sincere, that should never, thats not acceptable
5: thats awful
5: thats terrible, oh my goodness, not the standard, put this right, make this right, make it right, every right to be
5: every reason to be, our mistake, our fault, look into what happened, speak to the crew|driver|team|staff|waiter
""",
    "smalltalk": """
3: happy birthday, congratulations, just called to say, merry christmas
""",
}
