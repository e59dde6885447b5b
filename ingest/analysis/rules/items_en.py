"""English words of what a category's keys hold. The notation is that of `categories_cues`."""

CUES = {
    "contact_outcome": """
4: do _ thing after, in the queue, not available, not reachable, is unavailable, away from, leave your
4: after the tone, leave _ message, voicemail, not available, mailbox, cant take your call, unable to, not in service
4: no answer, all _ agents|representatives|operators, cant hear, can you hear, wrong number, breaking up
4: sorry i missed, reached the, cannot be reached, out of office, currently closed, hello hello, are closed
4: trying to reach
""",
    "dial_hint": """
4: try _ again, ill try you, hold for, stay on for, reach us, ring _ between|after|before
4: press, call back _ after|later|tomorrow|between|at, call us back, call again, try again, try me, office hours
4: opening hours, business hours, between _ and, monday to|through, open from, open at, extension, dial
4: reach me at|on, call me back, after six|five|four|three|lunch|noon, weekdays, mornings, evenings
""",
    "deal_type": """
3: buy, purchase, order, subscription, subscribe, lease, rent, install*, service, plan, licen*, seats, contract
3: supply, course, training, repair, booking, book, reserve, membership, insurance, loan, looking for, interested in
3: need, want, thinking about
""",
    "funnel_stage": """
3: send you _ quote|proposal|contract|details|brochure|plans|invoice, email you, quote, proposal, contract, demo
3: site visit, survey, measure, trial, pilot, deposit, sign, signed, meeting, think about it, talk it over
3: get back to you, come out, follow up, run it by, speak to my, paperwork
""",
    "offer": """
4: for a, down and, a kilo, a night, a person, a head, a piece, a unit, a pop, apiece, all in, plus vat, i can offer
4: we can offer, i can do, we can do, can give you, offer you, discount, per month, a month, a year, per user
4: per seat, dollars, pounds, hundred, thousand, grand, free, included, includes, comes with, package, plan, deal
4: percent off, price is, it would be, thats, installed, quote you, it comes to, instead of, for a service
""",
    "objection": """
6: cant possibly, cant spend, cant run to, cant justify, got burned, got stung, been burned, been stung, used to be
6: cheap _ means|break, wife|husband|partner|boss wont|will kill, tied into, no money, nothing left _ budget
6: expensive, too expensive, a lot of money, cheaper, steep, not interested
5: steep, pricey, a lot of money, too much, cheaper, over budget, budget, cant afford, think about it, think it over
5: talk to my, talk it over, run it by, not sure, not interested, no time, dont need, dont have time, already have
5: already use|using|work, happy with, locked in, worried, concern*, what if, doubt, hesitant, not convinced
5: how do i know, last time, too long, heard that, wasnt impressed, bit much, oof
""",
    "agreement": """
5: ill take, thats more like it, now youre talking, youve got a deal, lets say, ill go for, book me in, put us down
5: cancelled from, closed from, thats cancelled, count me in, send _ invoice over
5: agreed, sounds good, lets do it, lets do that, deal, ill take it, well take it, go on then, sign me up
5: works for me, that works, fair enough, okay lets, go ahead, book it, happy to, im in, send it over
5: send the contract, well go with, ill go with, well stay, ill stay, you have a deal, i can live with, fine lets
5: put me down, see you
""",
    "competitors": """
5: does it for, do it for, we have a|an _ already|machine|system, guy|lady|man _ does|do it, got it from
5: buy from, get it from, get ours from, supplied by, supplies us, other bids|bid, comparing
5: competitor*, other company|provider|supplier|vendor|guys|place|quote|quotes
5: another company|provider|supplier|vendor|quote|place, current provider|supplier|vendor|carrier, we use, were with
5: were using, switching to, going with, quoted us|me, offered us|me, the last chap, someone else, elsewhere
5: next door, down the road, across town
""",
    "next_touch_at": """
3: tomorrow, monday, tuesday, wednesday, thursday, friday, saturday, sunday, next week, in a week|month|hour|day
3: in two|three|four weeks|days|hours, this afternoon, tonight, in the morning, january, february, march, april, june
3: july, august, september, october, november, december, oclock, noon
3: call you, ring you, phone you, call back, see you, meet, meeting, catch up, touch base, check in, speak to you
3: talk to you, come out, stop by, follow up, get back to you, reconvene, regroup, pick this up, be there
""",
    "churn_risk": """
5: dont want to be|keep paying, wont be, no point, no longer need, im moving, were moving, has left, dont see the
5: cant afford, looking around, looking elsewhere, second thoughts, end my, end the, kill my|the, close my
5: not renewing, wont be renewing, dont want to renew, not renew, cancel*, leave, leaving, switch*, moving to
5: going with, terminate, close _ account, cheaper, better offer, better deal, put it up, gone up, price increase
5: too expensive, not using, hardly use, barely use, dont use, stopped using, not worth, unhappy, competitor*
5: thinking of, my minds made up, other options, end the contract
""",
    "outcome": """
5: is cancelled, are cancelled, works first, oh thats, thats neat, thats brilliant, that does it, leaves here
5: will be credited, will be refunded, will go back, ill put a note, stays on, hold on _ account, wont be charged
5: well waive, take it off, is booked, are booked, down for, we dont issue|do|offer, is fine, will do nicely
3: ill _ send|email|call|book|put|raise|order|process|check|refund|credit|move|arrange|log|pass|have|get
3: well _ send|email|call|book|put|raise|order|process|check|refund|credit|move|arrange
3: im putting|sending|booking|raising, i will, we will, went this morning, is fine with, will be there
5: works now, working now, its working, that worked, that did it, that fixed, fixed, sorted, resolved, got it
5: its back, back up, all set, all done, thats done, cancelled, canceled, refunded, will refund, credited, booked
5: rescheduled, moved to, confirmed, processed, corrected, reissued, ill take that, ive opened, ive logged
5: ive raised, ive updated, ive sent, will be delivered, on its way, technician will, engineer will, you have been
5: go on then, thanks _ help, perfect thank
""",
    "urgency": """
5: before saturday|friday|monday|the weekend, i have a line, i cant leave it, dead in the water, starts charging
5: nobody can work, opening on, exam, today please, cant do without, we open, before noon|lunch
5: urgent, urgently, asap, as soon as possible, right away, immediately, by tonight, by tomorrow, by friday
5: by monday, by end of, deadline, cant wait, cannot wait, emergency, critical, sitting down, people in
5: waiting outside, every hour|day _ costs|cost, standing still, at a standstill, losing money|business|sales
5: cant work, cant open, customers waiting, people waiting, line out the door, time sensitive, before the weekend
5: need it by, needs to be, running out
""",
    "resolution": """
5: you can stay|use|carry|keep, then use, use the, instead of, update it, switch it, needs an engineer, ships today
5: leave it, hold down, turn it, take out, put it back
5: restart, reboot, reset, try, click, go to, go into, open, select, update, updated, reinstall, replace, replacement
5: swap, ive fixed|changed|reset|enabled|added|updated|turned, turned it on
5: send _ technician|engineer|someone|link|guide, engineer will, technician will, escalate* to, pushed a fix
5: roll back, rolled back, the problem is, the reason is, because, you need to, youll need to, all you
5: whats happening is, set it to, tag each
""",
    "disputes": """
5: i mailed, i sent you, i dont see why, for every one, one man uses, how can, only have, thats not right, not mine
5: nobody warned, you lost, never left
5: not paying, shouldnt pay, shouldnt have to pay, refuse to pay, charged me for, charging me, why should i
5: was never done, wasnt done, didnt get, didnt receive, half of, didnt happen, dont agree, disagree, wrong
5: incorrect, mistake, error, overcharged, charged twice, double charged, extra, why, didnt order, didnt authorise
5: didnt authorize, didnt use, never agreed, never used, already paid, we paid, i paid, dispute, doesnt match
5: dont match, doesnt add up, nobody told, nobody said, dont owe, not paying, wont pay, dont recogni*, higher than
5: dont accept, what is this
""",
    "order_status": """
5: found it, never left, one of _ came, still being made, waiting for, ready to
5: came back, come back to, has arrived, arrived, delivered, returned to, order is, order was, order has, your order
5: the order, in the warehouse, at the depot, shipped, dispatched, packed, picked, in transit, backorder*, back order
5: out of stock, in stock, processed, processing, confirmed, cancelled, canceled, on hold, lost, production, partial
5: ready for, left our, never left, i see it, i can see
""",
    "documents": """
5: certificate, packing list, originals, the original
5: packing slip, delivery note, bill of lading, invoice, certificate, paperwork, documents, customs, declaration
5: data sheet, contract, receipt, signed, copy of, proof of delivery, pod, form, papers
""",
    "delivery_status": """
6: nobodys come, nobody came, no one came, never turned up, didnt turn up, marked delivered, marked as delivered
6: came back, couldnt get, still here, at the terminal, sitting in, out with the driver
5: deliver*, driver, truck, van, courier, tracking, out for delivery, arrive*, arriving, on its way, delayed, late
5: held up, stuck, depot, missed delivery, not delivered, hasnt arrived, never arrived, eta, scheduled for, drop off
""",
    "constraints": """
5: upstairs, two blokes|men|people, please not before, not by _ post, no lift, no forklift, i sleep, i do nights
5: only _ before|after|between|on|mornings|afternoons, not before, not after, no later than, gate, gate code
5: loading dock, dock, forklift, lift gate, liftgate, tail lift, stairs, elevator, narrow, weight limit, closed on
5: closed for, call ahead, call before, cant be, has to be, have to be, must be, fragile, refrigerated, appointment
5: security, school run, no one there, wont fit
""",
    "severity": """
5: half a, two weeks, with the kids, standing in a, in pain, chewing, dropped, out of pocket, standing still
5: third time, second time, fourth time, again, weeks, months, ruined, destroyed, damaged, broken, smashed, pieces
5: injured, hurt, hospital, burn*, sick, flooded, lost, thousands, hundreds, kid, child, children, baby, unsafe
5: dangerous, disgusting, worst, never again, crying, wedding, funeral, missed, unacceptable
""",
    "requested_resolution": """
6: dont get money, want the, off the bill, redone, done again, give me my, take _ off, i want my, dont want to
6: refund, money back, compensat*, apology, apologi*, replace*, redo, i want, we want, i demand, demand, i expect
6: we expect, fix it, make it right, put it right, fired, disciplin*, credit, waive, reimburse, in writing, pay for
6: cover the, the money, somebody to, someone to
""",
    "escalation": """
6: state board, the board, the paper, every paper, get me, put me through, who is in charge, bank dispute, chargeback
6: manager, supervisor, escalat*, director, owner, head office, ombudsman, lawyer, attorney, solicitor, court, sue
6: small claims, trading standards, bbb, better business, regulator, review, reviews, social media, report you
6: formal complaint, complaint _ team|department, file a complaint, police, quality team, opened claim, investigat*
6: ceo
""",
    "agenda": """
5: three things, two things, main things, few things, agenda, on the list, failed _ again, wont start, short one
5: agenda, today we, we need to talk, need to discuss, want to discuss, wanted to discuss, want to talk about
5: lets talk, talk about, first item, first up, main thing, the question is, figure out, discuss, here to, purpose of
5: start with, we have to decide, whats happening with, wheres, where are we
""",
    "decisions": """
5: stick to it, lets stick, thats decided, we replace, well take, we keep, leave it as
5: decided, decision, we agree, agreed, lets go with, well go with, lets do, so well, lets say, were going with
5: we drop, lets move, lets push, lets keep, lets cut, approved, signed off, final, settled, that settles, then we
5: okay so we, going ahead, we wont, not doing, ok so, lets try, put it in the minutes, action
""",
}

# By these it is none, whatever else is in the sentence.
DENIALS = {
    "objection": """
fits|suits _ budget, within _ budget, in our|my|the budget, can afford, not expensive, not bad, no problem
not a problem, no objection, fair enough, thats fair, that is fair, good price, fair price, works for us|me
sounds good|fair|reasonable, not too much|long|expensive|bad|steep, happy with that
"""
}
