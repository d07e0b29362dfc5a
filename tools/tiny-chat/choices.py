"""Answers in JSON, or in one word, that choose from a list; and lists."""
from objects import answer
from words import *

CUES = dict(
    billing='I was charged twice|My invoice is wrong|Please refund the payment|The price is too high|My credit card was charged',
    access='I forgot my password|I cannot sign in|My account is locked|The login does not work|I cannot log in',
    bug='The page shows an error|The app crashes|The button does not work|The export is broken|The search finds nothing',
    feature='Please add a dark mode|I wish for an export|Can you add a calendar|It would be nice to have tags|Please add more languages',
    other='What are your hours|Do you have a job for me|I want to visit you|Who is your boss|Where is your office')
MOODS = dict(positive='I love it|This is great|It works very well|Very good service|I am happy with it|Excellent',
             negative='I hate it|This is bad|It does not work at all|Very bad service|I am angry|Terrible', neutral='It is a lamp|It came on Monday|It has four legs|It is ok')
URGENT = dict(high='It is urgent|Please hurry|We need it now', medium='Please look at it this week|Soon would be good', low='There is no hurry|Take your time|It can wait')


def triage(r, want=False):
    """Enumerations: a queue, a mood, a priority."""
    c, s, p = r.choice(list(CUES)), r.choice(list(MOODS)), r.choice(list(URGENT))
    said, v = [], {}
    for table, x, keys in r.sample([(CUES, c, ['category', 'queue', 'topic', 'type']), (MOODS, s, ['sentiment', 'mood', 'feeling']), (URGENT, p, ['priority', 'urgency'])], r.choice([1, 1, 2, 3])):
        said.append(r.choice(table[x].split('|')) + r.choice(['.', '!', '.']))
        v[r.choice(keys)] = x
    text = ' '.join(said)
    u = r.random()
    if u < .6: return [('user', r.choice(['Classify: {}', '{}', 'Classify this message: {}', 'What is this about? {}', '{}']).format(text)), answer(v, keys=False)]
    (k, x), = list(v.items())[:1]
    options = list(next(t for t in (CUES, MOODS, URGENT) if x in t))
    r.shuffle(options)
    asked = r.choice([f'Answer with the {k} alone: {listed(options)}.', f'Classify the message. The answer is one of: {", ".join(options)}.',
                      f'Which {k} has this message? Answer with one word: {", ".join(options)}.'])
    if r.random() < .5: return [('system', asked), ('user', text), ('assistant', x)]
    return [('user', f'{asked}\n{text}'), ('assistant', x)]


def array(r, want=False):
    """An array alone, or a list of objects."""
    if r.random() < .5:
        some = list(dict.fromkeys(r.choice([word(r), city(r), known(r, NAMES)]) for _ in range(r.randint(1, 5))))
        if r.random() < .3: some = list(dict.fromkeys(r.randint(0, 99) for _ in some))
        text = listed([str(x) for x in some])
        v = {r.choice(['items', 'words', 'list', 'names', 'values', 'numbers', 'tags', word(r)]): some} if r.random() < .75 else some
        q = r.choice(['Make a list of {}.', 'List: {}', 'Put these into a list: {}', 'As a JSON array: {}', '{}', 'Extract the list: {}'])
        return [('user', q.format(text)), answer(v, keys=False)]
    ks = r.sample(['name', 'age', 'city'], 2)
    make = dict(name=lambda: known(r, NAMES), age=lambda: r.randint(1, 99), city=lambda: city(r))
    rows = [{k: make[k]() for k in ks} for _ in range(r.randint(1, 3))]
    if 'name' in ks: rows = [dict(sorted(x.items(), key=lambda kv: kv[0] != 'name')) for x in rows]
    text = '\n'.join(', '.join(f'{k}: {x}' for k, x in row.items()) for row in rows)
    return [('user', r.choice(['Extract the people: {}', '{}', 'Turn this into JSON: {}']).format(text)), answer({r.choice(['people', 'users', 'items', 'rows', 'list']): rows}, keys=False)]
