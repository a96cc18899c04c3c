/**
 * A conversation to try a memory on: nine months in which Marta and Jonas renovate a house in Ghent
 * with the help of Nora, an assistant that can ask for quotes and keeps their calendar and budget.
 *
 * Details from the first weeks are asked about months later, and many decisions change on the way.
 * A user message that asks for something old has in its `meta` what the model `needs` to have been
 * told, word for word, to be able to answer.
 */

export const systemPrompt = [
  'You are Nora, who helps Marta and Jonas renovate their house.',
  'You can find suppliers, ask them for quotes, write to them, and keep the calendar and the budget.',
  'Be brief and concrete. Never make up a price or a date, and say so when you do not know.',
  'When something is decided, repeat it as a list of "key: value" lines.',
].join(' ');

const textArguments = (...names) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: name === 'euros' ? 'number' : 'string' }])),
  required: names,
});

/** The tools in the form that OpenAI's chat completions take. */
export const tools = [
  ['find_suppliers', 'Look up who does a trade in an area.', textArguments('trade', 'area')],
  ['get_quote', 'Ask a supplier for the price of a job.', textArguments('supplier', 'job')],
  ['send_message', 'Write to a supplier or a neighbour.', textArguments('to', 'text')],
  ['calendar_add', 'Put an appointment in the calendar.', textArguments('date', 'title')],
  ['calendar_list', 'List the appointments from one date to another.', textArguments('from', 'to')],
  ['budget_add', 'Commit an amount; a negative one is money back.', textArguments('item', 'euros')],
  ['budget_status', 'What is committed and what is left.', textArguments('asOf')],
].map(([name, description, parameters]) => ({ type: 'function', function: { name, description, parameters } }));

const day = (date) => ({ role: 'system', content: `Today is ${date}.` });
const person = (name) => (content, needs) => ({ role: 'user', name, content, ...(needs && { meta: { needs } }) });
const marta = person('Marta');
const jonas = person('Jonas');
const halina = person('Halina');
const tilda = person('Tilda');
const nora = (content) => ({ role: 'assistant', content });

let callCount = 0;

/** One assistant turn that calls tools, with or without a text before the calls, then each result. */
function uses(...steps) {
  const content = typeof steps[0] === 'string' ? steps.shift() : '';
  const ids = steps.map(() => `call_${String(++callCount).padStart(2, '0')}`);
  return [
    { role: 'assistant', content, toolCalls: steps.map(([name, args], i) => ({ id: ids[i], name, arguments: args })) },
    ...steps.map(([name, , result], i) => ({ role: 'tool', toolCallId: ids[i], name, content: result })),
  ];
}

export const conversation = [
  // The keys
  day('Monday 13 January 2025'),
  marta('Hi! We are Marta Kowalczyk and Jonas Lindqvist, and since Friday we own a brick terraced house from 1931 at Korenbloemstraat 14 in Ghent 🏠🎉 It needs nearly everything: a wall out, windows, heating, a kitchen, a bathroom. Where do people like us begin?'),
  nora('Congratulations to you both. I would begin with three things that every later choice leans on: what you can spend, the date by which you must live there, and whatever cannot be compromised on. Once I have those I can look for an architect.'),
  jonas('Money first. All in, the ceiling is 86,000 euros, and I want a tenth of that kept for surprises. Our lease ends with August, so moving in on Saturday 30 August would be ideal.'),
  nora('Clear. Written down:\n- budget ceiling: 86,000 euros\n- reserve: a tenth of the budget, 8,600 euros\n- move-in date: Saturday 30 August\nAnd what cannot be compromised on?'),
  marta('My lungs. I have asthma that flares up on isocyanates, so no polyurethane foam anywhere and no solvent paint, whatever a builder says. Also, I am a nurse and work nights on Tuesdays and Thursdays. On Wednesdays and Fridays I sleep until two, so nobody should ring or visit before that.'),
  jonas('For me it is the kitchen. I am 1.94 metres tall and my back hates every worktop I have ever met, so ours has to be 96 centimetres high.'),
  nora('Lungs and backs come before looks. Written down:\n- forbidden materials: polyurethane foam and solvent paint\n- visits: not before 14:00 on Wednesdays and Fridays\n- worktop height: 96 centimetres'),
  jonas('And Tilda, who is six, has exactly one wish: a window seat wide enough for her and Pixel. Pixel is the cat 🐈'),
  nora('A seat for two, one of them furry. It may be the easiest thing on your list.'),
  marta('One more thing and then I am off to bed. My mother Halina comes to live with us in the middle of September, and she walks with a frame. What she asked for, in her own words: „Byle nie było progów, a drzwi niech będą szerokie.” No thresholds and wide doors.'),
  nora('Then the room on the ground floor should be hers. A walking frame passes easily through 90 centimetres, so I would ask for that on every door down there. Written down:\n- ground-floor doors: 90 centimetres clear, no thresholds\nDobranoc, Marta.'),

  // An architect
  day('Monday 20 January 2025'),
  jonas('Can you find us an architect who knows terraced houses, and preferably not one who would rather be building a museum?'),
  uses(['find_suppliers', { trade: 'architect', area: 'Ghent' }, 'Aïcha Benali, Sint-Amandsberg: terraced houses, small permits, free from February. Studio Verbeeck, Ghent: museums and concert halls, free from June. Luc Pauwels, Aalst: new villas, free now.']),
  nora('One of the three really does build museums 😅 Aïcha Benali in Sint-Amandsberg does terraced houses and is free from February. Shall I ask what she costs?'),
  jonas('Please do, and put a first visit in the calendar for next week, late in the afternoon.'),
  uses(
    ['get_quote', { supplier: 'Aïcha Benali', job: 'design, permit and six site visits' }, '4,200 euros all in, valid until 28 February.'],
    ['calendar_add', { date: '2025-01-27 17:30', title: 'First visit of Aïcha Benali' }, 'Added: Monday 27 January, 17:30.'],
  ),
  nora('She asks 4,200 euros for the design, the permit and six site visits. Her first visit is on Monday 27 January at half past five, so nobody has to get out of bed for it.'),
  marta('That is fair, take her. Under her e-mails she has « La maison est une machine à habiter ». I hope she means it kindly.'),
  uses(['budget_add', { item: 'Architect Aïcha Benali', euros: 4200 }, 'Committed 4,200 of 86,000. Left: 81,800.']),
  nora('Booked: 4,200 euros committed, 81,800 left. As far as I know Le Corbusier never had to get a walking frame past a doormat, so we will keep an eye on the machine.'),
  jonas('One practical thing for whoever has to get in. There is a key box on the drainpipe by the back door, and the code of the box is 4417. Please never put that in a letter.'),
  nora('I will give it out by telephone only, and only to people who have an appointment.'),

  // What the walls hide
  day('Monday 3 February 2025'),
  marta('Aïcha has been. She wants the wall between kitchen and dining room gone, all 4.6 metres of it, and says the back bedroom rests on it. She also measured the wall we share with the neighbour: 22 centimetres of solid brick.'),
  nora('A wall that carries a bedroom needs an engineer before it needs a hammer. And who is on the other side of the shared wall? Work on it has to be announced to them.'),
  jonas('Mevrouw Van Acker, at number 16. Eighty-one, sharp as a tack, and the owner of a dachshund called Flap who barks at ladders. Who can calculate a beam for us?'),
  uses('Let me look who does houses.', ['find_suppliers', { trade: 'structural engineer', area: 'Ghent' }, 'Ingrid Saelens, Ghent: houses, answers within a day. Bureau Statiek, Bruges: bridges and sports halls.']),
  nora('Ingrid Saelens in Ghent does houses and answers within a day. The other bureau does bridges, which seems a lot for a kitchen.'),
  jonas('No bridge, thank you. Ask Ingrid, and if she is under a thousand just say yes.'),
  uses(['get_quote', { supplier: 'Ingrid Saelens', job: 'beam for a 4.6 m opening, calculation and drawing' }, '950 euros, drawing within ten working days.']),
  uses(['budget_add', { item: 'Engineer Ingrid Saelens', euros: 950 }, 'Committed 5,150 of 86,000. Left: 80,850.']),
  nora('She is, by fifty euros. I said yes: 950 euros, and the drawing comes within ten working days. 80,850 euros is left.'),
  marta('I told Mevrouw Van Acker myself, over coffee. She has lived there since 1969 and remembers our kitchen wall being yellow. She only asks that scaffolding is gone before the summer holidays, because of Flap.'),
  nora('That is worth more than a registered letter. I will remind you of the scaffolding when the time comes.'),

  // Two builders
  day('Monday 17 February 2025'),
  marta('Ingrid has drawn it: a steel HEB 180 with a plate at either end. So now we need someone to put it there. A colleague on my ward swears by Van Damme in Wetteren.'),
  uses(
    ['find_suppliers', { trade: 'general builder', area: 'Ghent' }, 'Van Damme, Wetteren: crew of four. De Wolf & Zonen, Gentbrugge: crew of seven, own scaffolding, works with lime.'],
    ['get_quote', { supplier: 'Van Damme', job: 'demolition and masonry, without the beam' }, '15,900 euros, start on 10 March. Scaffolding and waste container charged separately.'],
  ),
  nora('Van Damme asks 15,900 euros and could start on Monday 10 March. Scaffolding and the waste container come on top, and he does not say how much. The register also has De Wolf & Zonen in Gentbrugge, a larger crew that works with lime.'),
  jonas('Always get a second price, my father taught me that. He also says "Glöm inte att lufta elementen!" at the end of every phone call, but that is about bleeding radiators.'),
  uses(['get_quote', { supplier: 'De Wolf & Zonen', job: 'demolition and masonry, without the beam' }, '17,400 euros, start on 24 March. Scaffolding until 30 June and container included. Contact: Bram De Wolf. Valid until 7 March.']),
  nora('De Wolf & Zonen ask 17,400 euros, with scaffolding until the end of June and the container in it, and would start on Monday 24 March. That is 1,500 more and two weeks later, but it is a price without a "separately".'),
  marta('Two weeks are two weeks. Van Damme is nice, he is cheaper, and Karin from the ward trusts him. Let us go with Van Damme.'),
  nora('Van Damme it is. Written down:\n- builder: Van Damme\n- start of works: Monday 10 March\nI will commit the money once you have his signature.'),
  jonas('He wants a deposit of 1,500 in cash. I gave it to him against a receipt, signed and dated.'),
  nora('Good that there is a receipt. Take a photograph of it tonight, thermal paper fades.'),

  // Bad news
  day('Thursday 27 February 2025'),
  jonas('Van Damme just rang. Two of his four men had an accident with the van this morning, on the E40. Nothing worse than broken bones, thank God, but he cannot start before June.'),
  nora('I am glad it is bones that heal. A start in June would push the end well past 30 August. The price of De Wolf & Zonen is valid until 7 March, which leaves you eight days to think.'),
  marta('We have thought. Take De Wolf. And tell Bram De Wolf about the foam, in writing, before he sets foot in the house.'),
  uses(
    ['budget_add', { item: 'De Wolf & Zonen, demolition and masonry', euros: 17400 }, 'Committed 22,550 of 86,000. Left: 63,450.'],
    ['send_message', { to: 'Bram De Wolf', text: 'One resident has severe asthma. No polyurethane foam and no solvent-based products may be used anywhere in the house.' }, 'Sent. Answer: "Geen PU-schuim, genoteerd. Wij werken met kalkmortel en kurk. Groeten, Bram"'],
  ),
  nora('Done. Bram answered within the hour: no foam, noted, they work with lime mortar and cork. Written down:\n- builder: De Wolf & Zonen, contact Bram De Wolf\n- start of works: Monday 24 March\n63,450 euros is left.'),
  jonas('Van Damme brought the deposit back himself, all 1,500, with a box of pralines. I nearly felt guilty.'),
  nora('Keep his number. A builder who drives over to return money is worth knowing.'),

  // The permit
  day('Monday 10 March 2025'),
  jonas('Post from the city 📬 The permit is granted! The file number is OMV-2025-01873, and there is one condition: the windows in front have to keep their original division.'),
  nora('Wonderful. Written down:\n- permit number: OMV-2025-01873\n- permit condition: front windows keep their original division'),
  marta('What does that mean in practice, keeping the division?'),
  nora('That each new window has as many panes as the old one, in the same proportions: with you, one fixed light above two casements. The glass itself may be as modern as you like. Photograph the old ones before anybody takes them out.'),
  jonas('Already done, all seven. Who still makes such things?'),
  uses(['find_suppliers', { trade: 'window maker', area: 'East Flanders' }, 'Vensterhuis Claeys, Eeklo: wooden windows, historic profiles. Ramenfabriek Noordzee, Ostend: plastic only.']),
  nora('Vensterhuis Claeys in Eeklo makes wooden windows with historic profiles. The other one has plastic only, which the city would send back.'),
  marta('Then Claeys. Could they price triple glazing, and double as well so that we can compare? There is a tram stop under our bedroom.'),
  uses(
    ['get_quote', { supplier: 'Vensterhuis Claeys', job: 'seven windows, triple glazing, fitted' }, '14,860 euros, nine weeks after the order.'],
    ['get_quote', { supplier: 'Vensterhuis Claeys', job: 'seven windows, double glazing, fitted' }, '12,690 euros, nine weeks after the order.'],
  ),
  nora('Triple is 14,860 euros and double 12,690, both fitted nine weeks after you order. The quiet costs you 2,170.'),
  marta('I sleep by day next to a tram. Triple, all seven.'),
  uses(['budget_add', { item: 'Vensterhuis Claeys, seven windows, triple glazing', euros: 14860 }, 'Committed 37,410 of 86,000. Left: 48,590.']),
  nora('Ordered. Nine weeks from today is Monday 12 May. Written down:\n- windows: seven, wood, triple glazing, by Vensterhuis Claeys\n- fitting of windows: Monday 12 May\n48,590 euros is left.'),

  // Dust
  day('Monday 31 March 2025'),
  marta('First week of demolition, and I have dust in my teeth. But listen: behind the stove Bram found a pantry that somebody bricked up. Inside were eleven jam jars and a newspaper of 9 May 1934!'),
  nora('A walled-up pantry is a fine thing to find on a Monday. Is anything left in the jars?'),
  jonas('Something that was gooseberry once. Tilda has claimed the jars for tadpoles. Should we keep the pantry itself? It is 1.2 metres deep and faces north.'),
  nora('I would. A north-facing pantry stays cool the whole year and takes no electricity. It needs a door and a vent, both of which Aïcha can draw in five minutes.'),
  marta('It stays, then! Less fun: the pier under the left end of the beam is soft. Ingrid wants a concrete pad beneath it. Can Bram price the whole thing, steel and pad?'),
  uses(['get_quote', { supplier: 'De Wolf & Zonen', job: 'HEB 180 beam over 4.6 m, with a concrete pad on the left' }, '3,150 euros, can be placed on Thursday 10 April.']),
  nora('Steel and pad together are 3,150 euros, and he can place it on Thursday 10 April.'),
  jonas('Fine. To pay for part of it: could the two windows on the stairs be double glazing after all? Nobody sleeps on a staircase.'),
  uses(['send_message', { to: 'Vensterhuis Claeys', text: 'Is it still possible to change the two stair windows from triple to double glazing, and what would that save?' }, 'Sent. Answer: "Yes, if we know before Friday. It saves 1,240 euros."']),
  nora('It is still possible this week, and it saves 1,240 euros. Shall I do both, the beam and the change?'),
  jonas('Both, please.'),
  uses(
    ['budget_add', { item: 'De Wolf & Zonen, HEB 180 beam with pad', euros: 3150 }, 'Committed 40,560 of 86,000. Left: 45,440.'],
    ['budget_add', { item: 'Vensterhuis Claeys, two stair windows double instead of triple', euros: -1240 }, 'Committed 39,320 of 86,000. Left: 46,680.'],
  ),
  nora('Both done, 46,680 euros is left. Written down:\n- windows: seven, wood, five with triple glazing and two on the stairs with double\n- beam: HEB 180, placed on Thursday 10 April'),

  // Heat
  day('Monday 14 April 2025'),
  jonas('The beam is in, straight as a die. Now heating. I had always assumed a new gas boiler, since the one we have is from 1998. Is that still sensible?'),
  nora('It is the cheapest thing to buy and not the cheapest thing to own. With the new windows your house will lose far less heat than it does today, so I would have that calculated before choosing anything.'),
  marta('Somebody at work has a heat pump and talks of nothing else. Get us both prices.'),
  uses(
    ['get_quote', { supplier: 'Warmtehuis Peeters', job: 'gas boiler, 24 kW, fitted' }, '4,650 euros.'],
    ['get_quote', { supplier: 'Warmtehuis Peeters', job: 'air-to-water heat pump, 8 kW, fitted' }, '13,700 euros. A regional grant of 2,250 euros is paid afterwards.'],
  ),
  nora('Warmtehuis Peeters ask 4,650 euros for a boiler and 13,700 for a heat pump of 8 kW. For the pump the region pays a grant of 2,250 afterwards.'),
  jonas('Ouch. And does a pump not hum? Mevrouw Van Acker has her bedroom at the back.'),
  nora('It does hum a little. On the rear wall of the kitchen, three metres from her boundary, she should not hear it. A smaller unit is quieter too, and 8 kW was a guess. Let Peeters calculate the heat loss first.'),
  marta('Yes, let them calculate. Guessing is how people end up with two boilers.'),
  uses('Wise. I will pass them the window plans as well.', ['get_quote', { supplier: 'Warmtehuis Peeters', job: 'heat loss calculation and a heat pump of the right size' }, 'Heat loss 5.3 kW at minus 7 °C. A 6 kW unit is enough: 11,900 euros, warranty seven years if serviced every October.']),
  nora('The house loses 5.3 kW on the coldest day, so 6 kW is enough. That is 11,900 euros instead of 13,700, with seven years of warranty as long as it is serviced every October.'),
  jonas('Sold. No more gas, then. My father will have to find a new way to end his phone calls.'),
  uses(
    ['budget_add', { item: 'Warmtehuis Peeters, heat pump 6 kW', euros: 11900 }, 'Committed 51,220 of 86,000. Left: 34,780.'],
    ['calendar_add', { date: '2025-10-13 16:00', title: 'First service of the heat pump' }, 'Added: Monday 13 October, 16:00.'],
  ),
  nora('He need not worry, a heat pump has radiators as well. Written down:\n- heating: heat pump of 6 kW by Warmtehuis Peeters\n- heat pump service: every October, first on Monday 13 October\n34,780 euros is left.'),

  // Wires
  day('Monday 28 April 2025'),
  marta('Pieter Maes, the electrician, walked through with me and stuck blue tape wherever a socket should be. 23 sockets, 14 light points and a new fuse board. He spoke in codes and I nodded.'),
  uses(['get_quote', { supplier: 'Volt & Maes', job: '23 sockets, 14 light points, new fuse board' }, '7,080 euros, first fix in the week of 5 May.']),
  nora('Nodding was the right answer. Volt & Maes ask 7,080 euros and would come in the week of 5 May. Is there anything that is not under blue tape yet?'),
  jonas('I work from home on Mondays and Tuesdays, in the attic. I would like a network cable up there instead of shouting at the wifi.'),
  marta('And by my mother\'s bed the light switch should sit at 80 centimetres, where she can reach it lying down.'),
  uses(['get_quote', { supplier: 'Volt & Maes', job: 'as before, plus network cable to the attic and a bedside switch at 80 cm' }, '7,340 euros.']),
  nora('With the cable and the low switch it comes to 7,340 euros.'),
  jonas('Go ahead.'),
  uses(['budget_add', { item: 'Volt & Maes, electrics', euros: 7340 }, 'Committed 58,560 of 86,000. Left: 27,440.']),
  nora('Committed, 27,440 euros is left. Written down:\n- electrician: Pieter Maes of Volt & Maes\n- sockets: 23, with a network cable to the attic\n- switch by the bed of Halina: at 80 cm'),
  marta('Tilda asked Pieter whether electricity sleeps at night. He said it works shifts, like her mother. I like him.'),
  nora('So do I. It is also technically correct.'),

  // The kitchen
  day('Monday 12 May 2025'),
  jonas('Today the windows should have come, but Claeys rang at seven: the oak was late, the new date is Monday 16 June. Five weeks of plastic sheeting. At least it gives us time for the kitchen.'),
  nora('I have moved it. Written down:\n- fitting of windows: Monday 16 June\nFor the kitchen, who has drawn it for you?'),
  marta('Atelier Roos in Lokeren. An L along the garden side, drawers everywhere, the pantry door at the short end, and a solid oak worktop because I am in love with it.'),
  jonas('And they asked me for a height. How high did I say our worktop has to be? I am standing in their showroom.', ['96 centimetres']),
  nora('96 centimetres, measured to the top of the wood. You told me so on the first day, together with your 1.94 metres.'),
  jonas('Thank you. Ask them for the price with that in it.'),
  uses(['get_quote', { supplier: 'Atelier Roos', job: 'L-shaped kitchen, oak worktop at 96 cm, without appliances' }, '12,800 euros, fitted in the first half of August.']),
  nora('12,800 euros without appliances, fitted in the first half of August.'),
  marta('We bring our own appliances. Yes! And behind the hob I want tiles with the Japanese wave pattern, 青海波. Azulejos Teixeira in Antwerp has 3.2 square metres left, batch B-0612.'),
  uses(
    ['budget_add', { item: 'Atelier Roos, kitchen with oak worktop', euros: 12800 }, 'Committed 71,360 of 86,000. Left: 14,640.'],
    ['send_message', { to: 'Azulejos Teixeira', text: 'Please hold 3.2 square metres of the seigaiha tile, batch B-0612, for Kowalczyk.' }, 'Sent. Answer: "Reserved until the end of July. Um abraço, Rui"'],
  ),
  nora('The kitchen is committed, and Rui Teixeira holds the tiles until the end of July. Written down:\n- kitchen: by Atelier Roos, oak worktop, fitted in the first half of August\n14,640 euros is left.'),

  // Water
  day('Monday 26 May 2025'),
  marta('The bathroom. We want a shower one can walk straight into, no step, a seat on the wall, and the washing machine upstairs where the washing is.'),
  uses(['find_suppliers', { trade: 'plumber', area: 'Ghent' }, 'Sanitair Okafor, Ledeberg: bathrooms without thresholds, free in July. Loodgieterij Smet, Ghent: repairs only.']),
  nora('Sanitair Okafor in Ledeberg makes bathrooms without thresholds, which is what Halina needs as well. They are free in July.'),
  jonas('That sounds made for us. What would it cost?'),
  uses(['get_quote', { supplier: 'Sanitair Okafor', job: 'walk-in shower with wall seat, basin, toilet, washing machine connection upstairs' }, '5,600 euros without tiles, from 7 July. Contact: Chidi Okafor.']),
  nora('5,600 euros without tiles, and Chidi Okafor can begin on Monday 7 July.'),
  marta('Take it. Then we still have floors, tiles and paint to come, don\'t we? How much is left after this?'),
  uses(['budget_add', { item: 'Sanitair Okafor, bathroom', euros: 5600 }, 'Committed 76,960 of 86,000. Left: 9,040.']),
  nora('Yes, those three. After the bathroom 9,040 euros is left, and 8,600 of it is the reserve that Jonas asked me to keep. So what is truly free is 440 euros, and that is not a floor. Written down:\n- plumber: Chidi Okafor of Sanitair Okafor, from Monday 7 July'),
  jonas('Hm. The reserve was for surprises. I am surprised, does that count?'),
  nora('Only if it is the house that surprises you. Let us see what the floors cost first.'),

  // Damp
  day('Monday 2 June 2025'),
  marta('The house heard you. Bram took the plaster off the back wall and it is wet up to 80 centimetres. He says it has been drinking since 1931 💧'),
  uses(['get_quote', { supplier: 'De Wolf & Zonen', job: 'injection against rising damp, back wall, and new plaster' }, '4,080 euros with lime plaster. With gypsum 3,600, but gypsum will not last on that wall.']),
  nora('Injection and new plaster come to 4,080 euros with lime. Gypsum would be 3,600, but Bram writes that it will not last on that wall.'),
  jonas('Lime, obviously. But that is the reserve half gone, and no floor yet. Marta, do we dare to touch the bond from your grandmother?'),
  marta('She would have wanted it in a house. The bond is worth 8,500 euros. Raise the ceiling by that, to 94,500, and then not one euro more.'),
  uses(
    ['budget_add', { item: 'De Wolf & Zonen, damp injection and lime plaster', euros: 4080 }, 'Committed 81,040 of 86,000. Left: 4,960.'],
    ['send_message', { to: 'Bram De Wolf', text: 'Please go ahead with the injection and lime plaster on the back wall.' }, 'Sent. Answer: "Ik begin donderdag. Kalk moet tien weken drogen, dus niet verven voor midden augustus."'],
  ),
  nora('Bram begins on Thursday. Lime has to dry for ten weeks, so there must be no paint on that wall before the middle of August. Written down:\n- budget ceiling: 94,500 euros\n- back wall: injected against damp, lime plaster, no paint before the middle of August\nWith the new ceiling 13,460 euros is left.'),
  jonas('To the grandmother, then. What was her name again, Marta? I want to toast properly.'),
  marta('Bronisława. She laid bricks in Łódź after the war, so she would have opinions about all this.'),
  nora('To Bronisława, who is now part of a back wall in Ghent.'),

  // New windows
  day('Monday 16 June 2025'),
  jonas('The window fitters are here, Marta is asleep after a shift she swapped, and the foreman wants to fill the gaps with a foam gun. Was there something about foam? Quickly, please!', ['polyurethane foam']),
  nora('Stop him. Marta has asthma that flares up on isocyanates, so there must be no polyurethane foam anywhere in the house. Ask for compressed cork or sealing tape instead.'),
  jonas('Stopped him. He grumbled, then fetched cork strips from the van. He says it is how his grandfather did it.'),
  uses(['send_message', { to: 'Vensterhuis Claeys', text: 'Your fitters were about to use polyurethane foam. Please confirm in writing that all seven windows are sealed with cork or tape.' }, 'Sent. Answer: "Confirmed, cork and sealing tape only. Our apologies."']),
  nora('Claeys confirm in writing: cork and sealing tape only, with their apologies.'),
  marta('I woke up to seven windows and not a single tram. I could cry 🥹 On the mat was a note from next door: „Beste buren, mag de steiger ten laatste op 4 juli weg? Flap slaapt niet meer. Vriendelijke groeten, Godelieve Van Acker”'),
  nora('She asks that the scaffolding be gone by 4 July, because the dog no longer sleeps. It is what she told you over coffee in February. Shall I write to Bram?'),
  marta('Yes. And until when is scaffolding included in the price of De Wolf & Zonen, does it say?', ['Scaffolding until 30 June']),
  uses(['send_message', { to: 'Bram De Wolf', text: 'Can the scaffolding on the street side come down by Monday 30 June? The neighbour asks for it.' }, 'Sent. Answer: "Straatkant ja. Tuinkant heb ik nodig voor de bepleistering, tot begin augustus."']),
  nora('Until 30 June, so the fourth of July would already be four days more than you have paid for. I asked Bram: the street side comes down on the thirtieth, and the garden side he needs for plastering until the beginning of August, at no extra cost.'),
  marta('I will bake something for Godelieve. And for Flap.'),

  // Floors
  day('Monday 30 June 2025'),
  jonas('Scaffolding gone in front, and the dog was seen asleep in the sun. Now the floors: 66 square metres. I want oak parquet. I have wanted it since I was a student with a carpet.'),
  uses(
    ['get_quote', { supplier: 'Vloeren Desmet', job: '66 m² oak parquet, laid' }, '6,270 euros, 95 per square metre, laid from 21 July.'],
    ['get_quote', { supplier: 'Vloeren Desmet', job: '66 m² cork, laid' }, '3,960 euros, 60 per square metre, laid from 21 July.'],
  ),
  nora('Oak parquet is 95 euros per square metre, 6,270 in all. I asked for cork as well, to compare: 60 per square metre, 3,960 in all. Either can be laid from Monday 21 July.'),
  jonas('Oak. Let me have this one thing.'),
  uses(['budget_add', { item: 'Vloeren Desmet, oak parquet', euros: 6270 }, 'Committed 87,310 of 94,500. Left: 7,190.']),
  nora('You have it. Written down:\n- floor: oak parquet by Vloeren Desmet, from Monday 21 July\n7,190 euros is left, with tiles and paint to come.'),
  marta('Wait. I did the sum on the back of my roster. If we spend that on a floor, the reserve is below what you wanted on the first day, Jonas. How much did you want kept, exactly?', ['8,600']),
  nora('A tenth of the first budget: 8,600 euros. With oak you are 1,410 short of it, and tiles and paint will take more.'),
  jonas('You two are ganging up on me. Let me sleep on it.'),
  nora('Vloeren Desmet let you change until Friday 4 July without costs. Sleep well.'),
  jonas('I slept. Tilda dropped a glass on our old tiles at breakfast and said "cork would have caught it". Cork, then. It is warm, it is quiet, it is cheaper, and I was beaten by a child.'),
  uses(['budget_add', { item: 'Vloeren Desmet, cork instead of oak parquet', euros: -2310 }, 'Committed 85,000 of 94,500. Left: 9,500.']),
  nora('Changed, and 9,500 euros is left. Written down:\n- floor: cork, 66 square metres, by Vloeren Desmet, from Monday 21 July\nTell Tilda that her argument held up better than the glass.'),

  // Second thoughts
  day('Monday 14 July 2025'),
  marta('I have to confess something about the oak worktop. I cooked at Karin\'s, who has one. Turmeric. It looks like a crime scene, after two years.'),
  nora('Oak and turmeric do not forgive each other. It can be sanded once or twice, or you could ask Atelier Roos what another material costs, as they have not cut anything yet.'),
  jonas('Says the woman who told me a wooden floor was vanity. Ask them, Nora, before she cooks anywhere else.'),
  uses(
    ['get_quote', { supplier: 'Atelier Roos', job: 'quartz composite worktop instead of oak' }, '650 euros more. Order before 18 July to keep the date in August.'],
    ['get_quote', { supplier: 'Atelier Roos', job: 'terrazzo worktop instead of oak' }, '1,480 euros more, four weeks later.'],
  ),
  nora('Quartz composite is 650 euros more and keeps the date if you order before Friday. Terrazzo is 1,480 more and four weeks later.'),
  marta('Quartz, in the light grey. Goodbye, my oak 💔'),
  uses(['budget_add', { item: 'Atelier Roos, quartz worktop instead of oak', euros: 650 }, 'Committed 85,650 of 94,500. Left: 8,850.']),
  nora('Changed. Written down:\n- kitchen: by Atelier Roos, light grey quartz worktop, fitted in the first half of August\n8,850 euros is left.'),
  jonas('Karin also asked why we left Van Damme, and I mumbled. What happened to his four men, was it an accident with the van?', ['on the E40']),
  nora('Two of the four had an accident with the van, on the E40, and came away with broken bones. He could not start before June and told you so the same day.'),
  jonas('And then he brought the deposit back with a box of pralines. I will tell her he is a gentleman.'),
  nora('He is. If you ever need a garden wall, I would begin with him.'),

  // Tiles
  day('Monday 28 July 2025'),
  marta('The tile setter can come this week, and he offers Wednesday at nine in the morning or Thursday at five. I have forgotten what I told you about visits, I am so tired. Which one?', ['not before 14:00 on Wednesdays and Fridays']),
  uses(
    ['calendar_add', { date: '2025-07-31 17:00', title: 'Tile setter, first visit' }, 'Added: Thursday 31 July, 17:00.'],
    ['get_quote', { supplier: 'Azulejos Teixeira', job: 'seigaiha tiles 3.2 m² and white bathroom tiles 14 m²' }, '1,180 euros, to be collected before Friday 1 August.'],
  ),
  nora('Thursday at five. You asked for no visits before 14:00 on Wednesdays and Fridays, because you sleep after your night shift. It is in the calendar. The tiles, those with the waves and the white ones for the bathroom, are 1,180 euros together and have to be collected before Friday.'),
  jonas('I am driving to Antwerp tomorrow anyway. Wait, no green tiles for the bathroom? We had talked about green.'),
  marta('We talked about green in bed, Jonas, not with Nora. White, with one green row at the height of my shoulder. From the same money.'),
  uses(['budget_add', { item: 'Azulejos Teixeira, tiles', euros: 1180 }, 'Committed 86,830 of 94,500. Left: 7,670.']),
  nora('White with one green row it is. 7,670 euros is left. Written down:\n- bathroom tiles: white with one green row at shoulder height'),
  jonas('I am at the counter of Azulejos Teixeira with two boxes that do not look alike. Which batch did we reserve, of the Japanese tiles with the waves?', ['B-0612']),
  nora('Batch B-0612, 3.2 square metres, held under the name Kowalczyk. Leave the other box.'),
  jonas('It was the box at the back, naturally. He gave me a pastel de nata for my trouble.'),
  nora('Then the trip has paid for itself.'),

  // The date
  day('Monday 11 August 2025'),
  jonas('Bram measured the back wall today, it is still too wet to paint. He wants three weeks more. And we were going to move in when, exactly?', ['Saturday 30 August']),
  nora('On Saturday 30 August, which was your wish from the first day. With three more weeks of drying the wall can be painted on the first of September at the earliest, so that date no longer holds.'),
  marta('I rang our landlord. Meneer Baert gives us two weeks, until 14 September, for half a month\'s rent. And my mother comes on the 17th. So it has to be the weekend of the 13th.'),
  uses(
    ['calendar_list', { from: '2025-09-01', to: '2025-09-20' }, 'Monday 1 September: Tilda, first day at school. Wednesday 17 September: arrival of Halina, 15:20, Gent-Sint-Pieters.'],
    ['calendar_add', { date: '2025-09-13 08:30', title: 'Moving day' }, 'Added: Saturday 13 September, 08:30.'],
  ),
  nora('Nothing stands in the way of it. Written down:\n- move-in date: Saturday 13 September\n- arrival of Halina: Wednesday 17 September, 15:20, at Gent-Sint-Pieters'),
  jonas('Bram says the scaffolding in the garden has to stay two weeks longer as well. What does that cost?'),
  uses(['get_quote', { supplier: 'De Wolf & Zonen', job: 'garden scaffolding, two weeks longer' }, '310 euros.']),
  nora('310 euros. It is on the garden side, so Flap should not mind.'),
  jonas('Flap minds everything, but fine, commit it.'),
  uses(['budget_add', { item: 'De Wolf & Zonen, scaffolding two weeks longer', euros: 310 }, 'Committed 87,140 of 94,500. Left: 7,360.']),
  nora('Committed, 7,360 euros is left.'),

  // Paint
  day('Monday 25 August 2025'),
  marta('The kitchen is in, it is beautiful, and Jonas stands at it like a king. Paint now. The shop offers an alkyd lacquer for the woodwork, "hardly any smell". May I have that?', ['solvent paint']),
  nora('I would not. Alkyd lacquer is thinned with white spirit, and you ruled out solvent paint on the first day, because of your asthma. A water-based one with a hard resin does the same job in two coats.'),
  marta('Past me was strict. Good. Water-based for wood, lime paint for the back wall, and for Tilda\'s room the colour number S 1010-G30Y. She calls it frog milk 🐸'),
  uses(['get_quote', { supplier: 'Verfhandel Lys', job: 'water-based lacquer, lime paint, wall paint S 1010-G30Y, for the whole house' }, '890 euros, ready on Thursday.']),
  nora('890 euros for the whole house, frog milk included, ready on Thursday. Shall I commit it?'),
  marta('Yes. Oh, and the carpenter is here to hang the doors downstairs. He brought two of 83 centimetres. What width did we agree on for my mother?', ['90 centimetres']),
  uses(['budget_add', { item: 'Verfhandel Lys, paint', euros: 890 }, 'Committed 88,030 of 94,500. Left: 6,470.']),
  nora('90 centimetres clear on every door of the ground floor, and no thresholds. Send the two back. The paint is committed, 6,470 euros is left.'),
  halina('Dzień dobry, tu Halina. Córka mówi, że pani wszystko pamięta. Czy będzie poręcz przy schodach? 🙏'),
  nora('Dzień dobry, pani Halino! Poręczy przy schodach nie ma jeszcze w planie. Zapytam stolarza o cenę, razem z uchwytami w łazience.'),
  marta('She is right, there is no handrail on the stairs. And grab bars for the shower. What would he take?'),
  uses(['get_quote', { supplier: 'the carpenter', job: 'handrail on the stairs and two grab bars in the shower' }, '420 euros, before 12 September.']),
  uses(['budget_add', { item: 'Handrail and grab bars', euros: 420 }, 'Committed 88,450 of 94,500. Left: 6,050.']),
  nora('420 euros, done before 12 September. I took the liberty of saying yes. Written down:\n- handrail: on the stairs, with two grab bars in the shower\n- room of Tilda: wall paint S 1010-G30Y, frog milk'),

  // Boxes
  day('Monday 8 September 2025'),
  jonas('The movers want to get in on Friday. What was the code of the key box on the drainpipe by the back door?', ['4417']),
  nora('It hangs on the drainpipe by the back door, and the code is 4417. You asked me never to put it in a letter, so please tell them on the phone.'),
  jonas('You really never forget. The city also wants the form that says the works are done. It asks for the file number of our permit.', ['OMV-2025-01873']),
  nora('OMV-2025-01873. Add the photographs of the old windows, since the one condition was that the front keeps its division.'),
  marta('And the region paid the grant for the heat pump, it is in my account this morning! 2,250 euros 🎉'),
  uses(['budget_add', { item: 'Regional grant for the heat pump', euros: -2250 }, 'Committed 86,200 of 94,500. Left: 8,300.']),
  nora('Then you stand at 86,200 euros, with 8,300 left of the 94,500.'),
  jonas('What is in the calendar for the rest of the month? I have a feeling that I am forgetting my mother-in-law.'),
  uses(['calendar_list', { from: '2025-09-08', to: '2025-10-15' }, 'Saturday 13 September, 08:30: Moving day. Wednesday 17 September, 15:20: arrival of Halina, Gent-Sint-Pieters. Monday 13 October, 16:00: First service of the heat pump.']),
  nora('Moving day on Saturday the 13th at half past eight, Halina on Wednesday the 17th at 15:20 at Gent-Sint-Pieters, and the heat pump on Monday 13 October.'),
  marta('How does that look for you, Jonas? I finish a night shift at seven that Wednesday... no, wait, I took the week off. I took the week off!'),
  nora('You did. Then nobody has to sleep until two.'),

  // The first evening
  day('Monday 6 October 2025'),
  tilda('hello nora this is tilda i am six and a HALF. mama says you know everything. what was my one wish for the window, for me and pixel', ['window seat wide enough for her and Pixel']),
  nora('Hello Tilda! You wished for a window seat wide enough for you and Pixel. Jonas told me on the very first day. Have you got it?'),
  tilda('YES. bram made it from the old stairs. pixel is on it now and there is no room for me 😾'),
  nora('That is how cats say that a seat is good. Try again after dinner.'),
  marta('She is asleep. We are writing down the story of the house for my mother. What was in the bricked-up pantry that Bram found behind the stove, a newspaper and what else?', ['eleven jam jars']),
  nora('Eleven jam jars and a newspaper of 9 May 1934. Tilda claimed the jars for tadpoles, and the pantry stayed because it faces north.'),
  jonas('It was 8 degrees in there this morning. And the radiators gurgle. What does my father say at the end of every phone call about bleeding radiators, in Swedish?', ['lufta elementen']),
  nora('"Glöm inte att lufta elementen!" He has been right since February: bleed the radiators, then call Peeters only if they still gurgle.'),
  jonas('I can hear him laughing. Last one, about money. The ceiling I named first, with a tenth kept for surprises: how far over it are we?', ['86,000']),
  uses('Let me look at what is really committed.', ['budget_status', { asOf: '2025-10-06' }, 'Committed 86,200 of 94,500. Left: 8,300.']),
  nora('You named 86,000 euros and you have spent 86,200. With a wet wall, a soft pier and a pantry in between, you are two hundred euros over the first thing you ever told me.'),
  marta('Two hundred euros. That is about one dachshund worth of cake for Godelieve. Dobranoc, Nora, and thank you 💛'),
  nora('Dobranoc, Marta. Dobranoc, Jonas. Sleep well, in your own house.'),
].flat();

/** What is played to a model: all but what the assistant and its tools said. */
export const script = conversation.filter(({ role }) => role === 'user' || role === 'system');

/** Whether the assistant spoke directly after this message, or let another one come first. */
export const isAnswered = (message) => conversation[conversation.indexOf(message) + 1]?.role === 'assistant';

const recordedCalls = conversation.flatMap((message) => message.toolCalls ?? []);
const resultOf = (call) => conversation.find((message) => message.toolCallId === call.id).content;
const wordsOf = (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));

/**
 * Answers a tool call with what was recorded for it. A model that makes its own calls gets the
 * result of the recorded call of the same tool whose arguments share the most words with its own.
 */
export function runTool({ id, name, arguments: args }) {
  const recorded = recordedCalls.filter((call) => call.name === name);
  const exact = recorded.find((call) => call.id === id);
  if (exact) return resultOf(exact);
  const asked = wordsOf(args);
  const shared = (call) => [...wordsOf(JSON.stringify(call.arguments))].filter((word) => asked.has(word)).length;
  const [best] = recorded.sort((a, b) => shared(b) - shared(a));
  return best ? resultOf(best) : `There is no tool called ${name}.`;
}
