"""First names as data: the forms that are one name, and English words that may be one."""

from __future__ import annotations

# A line for each name, the name first; a form may be in several lines. Case endings are the morphology's.
RUSSIAN = """
Александр Саша Саня Сашка Шура Сашенька Сашок Алекс Санёк Alexander Alex Sasha Alec Sandy
Александра Саша Шура Сашенька Аля Алекс Сашуля Alexandra Alex Sasha Sandra Alexa Lexi
Алексей Лёша Алёша Лёха Лёшенька Алёшка Лёня Alexey Alexei Aleksei Alex
Алёна Алёнка Алёнушка Елена Лена
Алина Алинка Аля Алиночка
Алиса Алиска Аля Alice Alisa
Алла Аллочка
Анастасия Настя Настенька Настюша Стася Ася Настёна Anastasia Stacy Nastya
Анатолий Толя Толик Толян
Ангелина Лина Геля Ангелинка
Андрей Андрюша Андрюха Дрон Andrew Andrey
Анжела Анжелика Лика Анжелла Angela
Анна Аня Анечка Анюта Нюта Нюра Аннушка Анька Анюша Ann Anne Anna Annie Anya Hannah Ханна
Антон Антоша Тоша Антоха Anton Tony Anthony
Антонина Тоня Тонечка
Аркадий Аркаша
Арсений Арсен Сеня Арсюша
Артём Артемий Тёма Тёмка Артёмка Artem Artyom
Артур Артурчик Arthur Art
Борис Боря Борька Боб
Вадим Вадик Дима
Валентин Валя Валик
Валентина Валя Валюша Valentina
Валерий Валера Валерка
Валерия Лера Лерочка Валя Valeria
Варвара Варя Варенька Barbara
Василий Вася Васёк Васенька
Василиса Вася
Вера Верочка Веруня Vera
Вероника Ника Верочка Veronica
Виктор Витя Витёк Витенька Victor Vic
Виктория Вика Викуля Викуся Тория Victoria Vicky Vika Tori
Виталий Виталик Виталя Vitaly
Владимир Вова Володя Вовка Вовочка Вован Vladimir Vlad
Владислав Влад Слава Владик Vladislav Vlad
Вячеслав Слава Славик
Галина Галя Галочка Галинка
Геннадий Гена Генка
Георгий Гоша Жора Гога George
Герман Гера Herman
Глеб Глебушка
Григорий Гриша Гриня Gregory Greg
Даниил Данила Данил Даня Данька Данилка Daniel Dan Danny
Дарья Даша Дашенька Дарина Дашуля Дарьюшка Daria Dasha
Денис Дениска Дэн Dennis Denis Den
Диана Дианочка Ди Diana Diane
Дина Диночка
Дмитрий Дима Димочка Митя Димон Димка Dmitry Dima
Евгений Женя Жека Женька Евгеша Eugene Gene Zhenya
Евгения Женя Женечка Eugenia Zhenya
Егор Егорка Гоша Жора
Екатерина Катя Катенька Катюша Катерина Катюха Катька Катрин Catherine Katherine Kate Katya
Елена Лена Леночка Ленуся Алёна Elena Helen Lena
Елизавета Лиза Лизонька Лизочка Elizabeth Liza Lisa
Ефим Фима
Жанна Жанночка Jeanne Zhanna
Захар Захарка
Зинаида Зина Зиночка
Зоя Зоенька Zoe Zoya
Иван Ваня Ванечка Ванька Ivan Vanya John
Игорь Игорёк Гоша Игорёша Igor
Илья Илюша Илюха Ilya
Инна Инночка
Ирина Ира Ирочка Иришка Ириша Иринка Irina Irene Ira
Карина Каринка
Кирилл Кирюша Кира Кирюха Cyril Kirill
Константин Костя Костик Костян Constantine Kostya
Кристина Кристинка Кристи Christina Kristina Kris
Ксения Ксюша Ксюня Аксинья Ксенька Ksenia Xenia
Лариса Лара Ларочка Larisa
Лев Лёва Лёвушка Leo Lev
Леонид Лёня Лёнька Leonid
Леся Олеся Леська
Лидия Лида Лидочка Lydia
Лилия Лиля Лилечка Лилиана Lily Lilia
Людмила Люда Мила Людочка Люся Милочка
Любовь Люба Любочка Любаша
Маргарита Рита Марго Риточка Margarita Margaret Rita
Марина Мариша Маринка Мариночка Марин Marina
Мария Маша Маруся Машенька Марья Маня Мари Муся Mary Maria Masha
Марк Маркуша Mark Marc
Матвей Мотя Матюша Matthew
Максим Макс Максимка Maxim Max
Михаил Миша Мишка Мишаня Мишенька Michael Misha
Надежда Надя Наденька Надюша Nadia
Наталья Наталия Наташа Ната Наташенька Натали Туся Natalia Natalie Natasha
Никита Никитка Никитос Nikita
Николай Коля Колян Николаша Колька Nicholas Nick Kolya
Нина Ниночка Nina
Оксана Ксана Ксюша Оксанка Oxana
Олег Олежка Олежек Олежа Oleg
Ольга Оля Оленька Олечка Ольгуша Olga
Павел Паша Пашка Павлик Павлуша Paul Pasha Pavel
Пётр Петя Петька Петруша Петруха Peter
Полина Поля Полинка Полюшка Pauline Polina
Раиса Рая Раечка
Регина Реги
Римма Риммочка
Роман Рома Ромка Ромочка Ромчик Roman Roma
Ростислав Ростик Слава
Руслан Русик Русланчик Руся
Рустам Рус
Светлана Света Светочка Светик Лана Светуля Svetlana Sveta
Святослав Слава Свят
Семён Сёма Сеня Simon Semyon
Сергей Серёжа Серёга Серж Серый Сергуня Sergey Serge
Снежана Снежа
София Софья Соня Сонечка Софа Sophia Sofia Sonya
Станислав Стас Слава Стасик Stan Stanislav
Степан Стёпа Стёпка Stephen Stepan
Таисия Тая Тася Таечка
Тамара Тома Томочка Тамарочка
Татьяна Таня Танюша Танечка Танька Tatiana Tanya
Тимофей Тима Тимоша Тимоха Timothy
Тимур Тима Тимурчик
Ульяна Уля Ульянка Juliana
Фёдор Федя Федька Theodore Fedor
Филипп Филя Фил Philip Phil
Эдуард Эдик Эд Edward Ed Eddie
Эльвира Эля Эльвирочка
Эмилия Эмма Эми Миля Emily Emilia
Юлия Юля Юленька Юляша Юлька Julia Julie Yulia
Юрий Юра Юрка Юрочка Юрик Yuri George
Яна Яночка Янка Yana
Ярослав Слава Ярик Яр
Яков Яша Яшка Jacob James
Джон Джонни John
Джеймс Джим Джимми James Jim
Майкл Майк Michael Mike
Роберт Боб Бобби Роб Robert
Уильям Билл Вильям William Bill
Кэтрин Кэт Кейт Catherine Kate
Джейн Jane
Мэри Mary
Том Томас Thomas Tom
Дэвид Дейв David Dave
Сара Sarah
Стив Стивен Steven Steve
Дженни Дженнифер Jennifer Jenny
"""
ENGLISH = """
Abigail Abby Gail
Abraham Abe
Albert Al Bert Bertie
Alfred Alf Alfie Fred
Allison Alison Allie Ally
Amanda Mandy
Andrew Andy Drew
Angela Angie
Anthony Tony Ant
Arthur Art Artie
Barbara Barb Barbie
Benjamin Ben Benny Benji
Bernard Bernie
Beatrice Bea Trixie
Bradley Brad
Calvin Cal
Cameron Cam
Caroline Carrie Carolyn Caro
Catherine Katherine Kathryn Kate Katie Kathy Cathy Kat Kit Kitty Cate Katy Kath
Charles Charlie Chuck Chas Charley
Charlotte Charlie Lottie
Christina Christine Chris Chrissy Tina Christie Kristina Kristin Kirsten
Christopher Chris Kit Topher
Clifford Cliff
Clinton Clint
Cynthia Cindy
Daniel Dan Danny
Danielle Dani
David Dave Davey Davy
Deborah Debra Deb Debbie
Dennis Den Denny
Donald Don Donny Donnie
Dorothy Dot Dottie Dolly
Douglas Doug
Edward Ed Eddie Ted Ned Teddy
Edwin Ed Eddie
Eleanor Ellie Nell Nora Elle
Elizabeth Liz Lizzie Beth Betty Eliza Lisa Betsy Libby Bess Elsie
Emily Em Emmy
Eugene Gene
Evelyn Evie
Florence Flo Florrie
Frances Fran Frankie Francesca
Francis Frank Frankie
Franklin Frank
Frederick Fred Freddie Freddy Rick
Gabriel Gabe
Gabrielle Gabby
Gerald Gerry Jerry
Geoffrey Geoff Jeff Jeffrey Jeffery
Gilbert Gil
Gregory Greg Gregg
Gwendolyn Gwen
Harold Harry Hal
Helen Nell Ellen
Henry Harry Hank Hal
Herbert Herb Bert
Howard Howie
Isaac Ike Zac
Isabella Isabelle Isabel Bella Izzy Belle
Jacob Jake
Jacqueline Jackie Jacqui
James Jim Jimmy Jamie Jimmie
Janet Jan
Jason Jay
Jennifer Jen Jenny Jenn
Jeremy Jerry Jem
Jessica Jess Jessie
Joanne Joanna Jo Joan
John Johnny Jack Jon Johnnie
Jonathan Jon Jonny Nathan
Joseph Joe Joey Jos
Josephine Jo Josie
Joshua Josh
Judith Judy Judi
Julian Jules
Julia Julie Jules
Kenneth Ken Kenny
Kimberly Kim
Lawrence Laurence Larry Laurie
Leonard Leo Len Lenny
Leslie Les
Lillian Lily Lil
Louis Lewis Lou Louie
Louise Lou
Lucas Luke
Lucille Lucy
Madeleine Madeline Maddie
Margaret Maggie Meg Peggy Marge Greta Daisy Margie Mags
Martin Marty
Mary Molly Polly Mae Marie Maria
Matthew Matt Matty Mat
Maximilian Max
Melanie Mel
Melissa Mel Missy Lissa
Michael Mike Mick Micky Mikey Mickey
Michelle Shelly Mich
Mildred Millie
Mitchell Mitch
Nancy Nan
Natalie Nat
Nathan Nate Nat
Nathaniel Nate Nathan Nat
Nicholas Nick Nicky Nico Nic
Nicole Nicky Nikki Nic
Olivia Liv Livvy
Oliver Ollie Olly
Pamela Pam
Patricia Pat Patty Tricia Trish Patsy
Patrick Pat Paddy Rick
Peter Pete
Philip Phillip Phil Pip
Priscilla Cilla
Rachel Rach Rae
Raymond Ray
Rebecca Becky Becca Bec
Reginald Reg Reggie
Richard Rick Dick Rich Richie Ricky Rickie
Robert Bob Rob Bobby Robbie Bert Bobbie
Roberta Bobbie
Roderick Rod
Rodney Rod
Roger Rodge
Ronald Ron Ronnie
Russell Russ Rusty
Samantha Sam Sammy
Samuel Sam Sammy
Sarah Sally Sadie Sara
Sebastian Seb
Sharon Shaz
Stanley Stan
Stephanie Steph Stevie
Stephen Steven Steve Stevie Stefan
Susan Sue Susie Suzie Suzanne Susanna Suzy
Sylvester Sly
Terence Terry Terrence
Teresa Theresa Tess Terri Tessa
Theodore Ted Theo Teddy
Thomas Tom Tommy Thom
Timothy Tim Timmy
Valerie Val
Victor Vic
Victoria Vicky Vickie Tori Vic
Vincent Vince Vinny
Virginia Ginny Ginger
Walter Walt Wally
William Bill Will Billy Willy Liam Willie Wills
Winifred Winnie
Yvonne Evie
Zachary Zach Zack Zak
"""
OTHERS = """
aaron adam adele adrian agnes aisha alan alana albina alberto alejandro alfonso ali alisha allan allen alonso alvin
alyssa amelia amir amy ana anand andrea andre andreas angel angelo anil anita anjali annette antoine antonio april
arjun arlene armando arnold arun ashley ashok astrid aubrey audrey austin ava bailey barry becca bethany bettina
betty beverley beverly bjorn blake bonnie boris bowen brandon brenda brendan brent brett brian bridget brittany
brooke bruce bruno bryan bryce byron callum camila carl carla carlos carmen carol carole carter casey cassandra
cecilia cesar chad chandra charlene chelsea cheryl chloe claire clara clarence claude claudia clayton clive cody
colin colleen connie connor conor corey cory courtney craig curtis cyrus daisy dale damian damien dana daphne darius
darren darryl darlene dawn dean deanna declan deepak deirdre delia denise derek derrick desmond devon dexter diego
dieter dina dolores dominic dominique donna dora doreen doris duncan dustin dwayne dylan earl edgar edith edmund
eduardo eileen elaine elena elias elijah ella ellen elliot elliott elmer elsa elton emma emmanuel enrique eric erica
erik erika erin ernest ernesto esteban esther ethan eva evan fabian faith farah fatima fay faye felicity felix
fernando fiona flora floyd gareth garrett gary gavin gemma georgia georgina geraldine gerard giles gina giovanni
giulia gladys glen glenda glenn gloria gordon grace graham grant greta guadalupe guillermo gus gustavo guy hailey
hamid hamish hans harriet harvey hassan hayley hazel heather hector heidi hilary hilda holly hope hugh hugo hussein
ian ibrahim igor imran ines ingrid ira iris irma irving isla ismail ivan ivy jada jaden jan jane janice janine jared
jasmine javier jean jeanette jeanne jerome jesse jesus jill joanie joaquin jocelyn jodie jody joel johan johanna
jordan jorge jose joy joyce juan juanita jude june justin kai karen karin karl karla kayla keisha keith kelly kelsey
kelvin kendra kerry kevin khalid kiran kristen kristy kumar kurt kyle kylie lakshmi lance lara lars latoya laura
lauren laverne leah lee leila leon leona leroy lester liam lila lillie linda lindsay lindsey lionel lloyd logan lois
lola lorena lorenzo loretta lori lorna lorraine luca lucia luis luisa luke luther lydia lyle lynn lynne mabel
mackenzie maeve malcolm marcel marcia marco marcos marcus margot marian marianne mario marion marisa marjorie
marlene marlon marsha martha martina marvin mason mateo matilda maureen maurice mavis max maya megan mei mercedes
meredith mia miguel miles milton minnie mohamed mohammed mohammad moira monica monique morgan moses muhammad muriel
murray myra naomi natasha neil nelson nia niamh nigel nikhil nina noah noel nolan nora norma norman olive omar oscar
otto owen pablo padma paige pascal paula pauline pavel pearl pedro penelope penny percy perry phoebe phyllis pierre
pilar preston priya quentin quinn rafael raj rajesh ralph ramesh ramon randall randy raul ravi regina rene rhonda
ricardo riley rita roberto robin rohan roland roman romeo rory rosa rosalie rosalind rosario rose rosemary ross
rosie rowan roy ruben ruby rudolph rupert ruth ryan sabrina salvador samir sandra sanjay santiago saul scott sean
selena selma serena sergio seth shane shannon shaun shawn sheila shelby sheldon sherry shirley shreya sidney sierra
silvia simon simone sofia sonia sonja spencer stacey stacy stella stuart sunil sunita suresh sven sybil sydney
sylvia tamara tamika tanya tara tariq tasha taylor tiffany toby todd tomas tracey tracy travis trevor trina tristan
troy tyler tyrone ursula valentina vanessa vera verity vernon veronica victor vijay vikram viola violet vivian
viviana wade wanda warren wayne wendell wendy wesley whitney wilfred willow winston xavier yasmin yolanda yusuf
yvette zara zoe ximena agnieszka andrzej dmitri olga svetlana irina oksana katarzyna piotr wei ming hiroshi kenji
yuki aiden aidan jayden ayesha ahmed ahmad mustafa leticia rosalia ignacio rodrigo emilio marta nadia amara chidi
ngozi kwame kofi thandi sipho anika anya joao alma alba ada adela aida akash aleksandra alia amal amina amit
anastasia ania anneke annika arash aria armin arne asha asif ayan ayse azra beata bella benedict bilal birgit bodhi
boyd brad brandy britta bronwyn caitlin carly carlton carson cathal cedric celeste celine chandler chantal chiara
christa ciara ciaran cillian clarissa clint coral cormac cristina cruz daksha dalia dalton damon darcy dayo demi
desiree devin dimitri dmitry eamon eartha ebony eiji eleni elise eliza ellis eloise elodie emeka emer emil ernie
eszter eunice evelina ezra farid farida farouk federico femi fergus finn finley finola fionn folake francois freya
gael gianna gita gerda giorgio giuseppe gretchen gunnar gwen hamza hana hannes haruki heike helga henrik hilde hiro
imani imogen indira ingo iman irene isabel isha jamal jana janek jasper jaya jens joachim jodi joost jules kadir
kaito kamal karim kasia katja kayode keiko kelechi kenneth kerstin keshia kian kieran kirk klaus krishna kristian
ksenia kunal lek lena leif lenore leo leslie liesl liv lior lorcan lucas lukas lyudmila maciej magda mahmoud maja
malik manuel manuela marek margaux mari mariam marie marielle marisol marit maryam matteo mathias matthias meera
mehmet meena milan milo mina mira mohan nadine naveed nasir nayeli neha nell nils nisha nita noor nuno omari orla
osama oskar padraig paolo parker pavan petra pooja pranav rachael rahul rania rasheed rashid reem reuben rhys riya
rohit ronan rosalyn roxanne rukhsana saanvi sadia sahil saima salma sami sandeep sanjeev saoirse seamus selim sergei
shabnam shanice shaquille sheryl shirin siobhan sian sina sinead sindhu sofie soren sumit surya suzanne svenja swati
tadeusz tamsin tanisha tatiana tayo tess thabo theodora tobias tomasz tunde tyra uche ulrich umar usha valeria
valentin viktor vikas vivek wanjiru wojciech yara yasin yosef yusra zainab zane zeynep zhen zofia zuri
"""
# Names that are ordinary words, or nearly: only a capital inside of a sentence or what stands around tells.
WORDS_TOO = """
parker carson coral cruz dalton ellis finn boyd brandy bella asha hope imani jasper darcy
al an angel ant april art august bea bell belle bill bob bonnie brook brooke buck cam carol chad chase chip chuck
cliff daisy dale dawn dean deb den dick don dot drew earl ed em faith fay flo florence ford frank gale gene georgia
ginger glen grace grant guy hal hank harry hazel heather herb hope ike iris ivy jack jay jean jen jim jo joy june
kit lance lee les liz lily lou mac mae march mark mason max may mel mercedes miles morgan nan nat ned nick norm
olive pat pearl peg penny pip rich rob robin rod rose ruby russ rusty sally sandy sierra sky stan sue summer taylor
ted tori trinity val verity vic viola violet wade wally ward will willow wills jesus christian jordan paris sydney
austin dallas madison chelsea carter spencer preston nelson logan kai mei wei ming ines raj colin kelly troy ira
lola regina vera roman rae ross minnie pilar dolores savannah ali amber crystal jade jan ray
"""
