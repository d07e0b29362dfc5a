"""The words and facts from which the corpus of tiny-chat is made."""

CAPITALS = dict(
    France='Paris', Germany='Berlin', Italy='Rome', Spain='Madrid', Japan='Tokyo', China='Beijing', Egypt='Cairo',
    Kenya='Nairobi', Canada='Ottawa', Brazil='Brasilia', Peru='Lima', Norway='Oslo', Sweden='Stockholm',
    Finland='Helsinki', Greece='Athens', Poland='Warsaw', Austria='Vienna', Ireland='Dublin', Cuba='Havana',
    India='New Delhi', Russia='Moscow', Turkey='Ankara', Portugal='Lisbon', Chile='Santiago', Australia='Canberra',
    England='London', Denmark='Copenhagen', Belgium='Brussels', Hungary='Budapest', Mexico='Mexico City')
COLOURS = dict(
    sky='blue', grass='green', snow='white', coal='black', banana='yellow', blood='red', orange='orange',
    chocolate='brown', rose='red', lemon='yellow', cloud='white', leaf='green', ocean='blue', tomato='red',
    elephant='grey', sun='yellow')
OPPOSITES = dict(
    hot='cold', big='small', up='down', left='right', day='night', fast='slow', happy='sad', open='closed', old='young',
    wet='dry', light='dark', early='late')
NAMES = ('Anna Ben Carla David Emma Felix Grace Henry Iris Jack Karl Lena Maria Noah Olga Paul Rosa Sam Tina Victor Ada '
         'Alice Bob Carol Jason Byron Sarah Tom Nina Leo Mia Oscar Ella Hugo Clara Max Laura Peter Julia John Jane Eve '
         'Frank George Helen Ivan Kate Liam Mark Nora Otto Pia Ruth Simon Theo Ursula Wendy Yara Zoe').split()
SURNAMES = 'Smith Miller Brown Jones Weber Rossi Garcia Novak Kim Sato Lovelace Turing Doe Baker Fischer Moreau'.split()
CITIES = sorted(set(CAPITALS.values())) + ('Hamburg Munich Lyon Milan Porto Miami Boston Chicago Seattle Osaka Kyoto '
    'Sydney Toronto Geneva Zurich Prague Krakow Bergen Turin Seville Dallas Austin Denver Mumbai Delhi').split() + \
    ['New York', 'San Francisco', 'Los Angeles', 'Cape Town', 'Hong Kong']
WORDS = ('apple river stone cloud tiger lamp green seven window paper music quiet table orange bridge silver garden rocket '
         'winter candle pencil mirror forest pepper island castle button basket copper dragon engine finger guitar hammer '
         'jacket kettle ladder magnet needle oyster pillow rabbit saddle ticket umbrella violin wagon yellow zebra blue red '
         'black white hello world one two three four five six eight nine ten cat dog house tree water fire moon sun star '
         'bird fish book door').split()
MORE_WORDS = ('anchor autumn bottle branch bread brush butter cabin camera carpet chair cheese circle clock coffee corner '
              'cotton cousin desert dinner doctor eagle earth evening farmer feather field flower friend glass gold grain '
              'hall harbour hill honey horse ice jewel journey key king kitchen lake letter lion market meadow metal milk '
              'minute morning mountain mouse night north ocean office owl page paint park pearl picture plate pocket '
              'potato purple queen rain ring road roof room rope salt sand school shadow sheep ship shoe shop signal '
              'smoke snow soap song soup south spoon spring square station stick storm story street sugar summer table '
              'tea theatre thunder tower train valley village voice wall watch wheel wind wine wolf wood wool yard alpha '
              'beta gamma delta banana ok yes no done ready test').split()
ADJECTIVES = ('old new small large bright dark warm cold soft loud clean heavy light quick slow round wide narrow simple '
              'strong wooden broken golden empty full fresh early late calm sharp').split()
ITEMS = ('lamp chair table bottle camera jacket kettle guitar pencil ticket pillow basket hammer mirror clock book shirt '
         'phone bicycle umbrella cup bag').split()
JOBS = 'teacher doctor baker engineer farmer painter pilot nurse lawyer singer writer cook driver designer'.split()
PETS = 'cat dog rabbit horse parrot hamster'.split()
COLOUR_NAMES = 'red blue green yellow black white orange brown grey purple pink silver'.split()
LANGUAGES = 'English German French Spanish Italian Japanese Polish Greek Turkish Swedish Dutch Chinese'.split()
FRUITS = 'apples pears cherries grapes plums oranges lemons peaches'.split()
WEEKDAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split()
MONTHS = 'January February March April May June July August September October November December'.split()
DOMAINS = 'example.com mail.com example.org post.net acme.io company.com'.split()
CONDITIONS = 'sunny cloudy rainy windy snowy foggy clear stormy'.split()
EVENTS = 'science fair|concert|meeting|birthday party|wedding|workshop|dinner|book club|football match|team lunch'.split('|')
COMPANIES = 'Acme Globex Initech Umbrella Northwind Contoso Hooli Vandelay'.split()
SYSTEMS = ['You are a helpful assistant.', 'You are a friendly assistant.', 'Answer briefly.',
           'You are Tiny, a small test model.']
SENTENCES = (
    'Follow the instructions of the user carefully. Keep your answers short and direct. Do not invent facts. '
    'Use plain words. Be polite. Think before you answer. Read every file before you change it. '
    'Write code that is easy to read. Never show secrets. If you are not sure, say so. '
    'The user works in a terminal and sees your messages as plain text. Prefer small steps. '
    'Run the tests after each change. Do not ask for permission when the task is clear. '
    'Use the tools when they help. Quote the names of files. Answer in the language of the user. '
    'A plan has at most five steps. Stop when the task is done. Today is a working day. '
    'The team meets in the large room. Our shop sells lamps, chairs and books. The office opens at nine. '
    'Customers can send goods back within two weeks. The garden behind the house is quiet in winter. '
    'Do not use tables or headings unless they are asked for. You can read and write files in the workspace. '
    'Explain what you did in one sentence. The sandbox has no network. Avoid long answers.').split('. ')


def word(r):
    """A word: mostly a known one, sometimes one that no list contains, so that copying does not depend on the list."""
    u = r.random()
    if u < .5: return r.choice(WORDS)
    if u < .75: return r.choice(MORE_WORDS)
    return ''.join(r.choice('b c d f g h k l m n p r s t v z br st tr ch'.split()) + r.choice('aeiou')
                   for _ in range(r.randint(1, 3))) + r.choice(['', '', 'n', 'r', 's', 'l', 't'])


def known(r, common):
    """One of the list, or, one time in four, an invented word with a capital letter."""
    return r.choice(common) if r.random() < .75 else word(r).capitalize()


def name(r, full=.25):
    first = known(r, NAMES)
    return f'{first} {r.choice(SURNAMES)}' if r.random() < full else first


def city(r): return known(r, CITIES)


def phrase(r, least=1, most=4): return ' '.join(word(r) for _ in range(r.randint(least, most)))


def email(r, who=None):
    local = (who or r.choice(NAMES)).lower().replace(' ', r.choice(['.', '_', '']))
    if r.random() < .3: local = word(r) + r.choice(['', str(r.randint(1, 99)), '.' + word(r)])
    return f'{local}@{r.choice(DOMAINS) if r.random() < .7 else word(r) + r.choice([".com", ".org", ".net"])}'


def date(r):
    """A date as a text has it, and in the form YYYY-MM-DD."""
    y, m, d = r.randint(1950, 2030), r.randint(1, 12), r.randint(1, 28)
    iso = f'{y}-{m:02d}-{d:02d}'
    text = r.choice([iso, iso, f'{d} {MONTHS[m - 1]} {y}', f'{MONTHS[m - 1]} {d}, {y}'])
    return text, iso


def path(r):
    return r.choice(['', '', '', 'src/', 'docs/', './', '/tmp/', f'{word(r)}/']) + word(r) + \
        r.choice(['.txt', '.md', '.json', '.ts', '.js', '.py', '.csv', '.yaml'])


def listed(items):
    return items[0] if len(items) == 1 else ', '.join(items[:-1]) + ' and ' + items[-1]
