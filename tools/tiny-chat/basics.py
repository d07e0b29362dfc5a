"""Plain questions and answers: facts, sums, repeating, counting, greetings, memory, demands of a system prompt."""
import hashlib
from words import *


def held(key):
    """True for a tenth of all keys. Samples with such a key are only for the evaluation, never for the training."""
    return hashlib.md5(key.encode()).digest()[0] % 10 == 0


def fact(r, want, questions, thing, sentence, short):
    ok = [q for q in questions if held(q + thing) == want] or (None if want else questions)
    return ok and (r.choice(ok).format(thing), sentence, short)


def capital(r, want):
    c = r.choice(list(CAPITALS))
    qs = ['What is the capital of {}?', 'Tell me the capital of {}.', 'Capital of {}?', 'Which city is the capital of {}?',
          'The capital of {} is which city?', "What's the capital of {}?"]
    return fact(r, want, qs, c, f'The capital of {c} is {CAPITALS[c]}.', CAPITALS[c])


def colour(r, want):
    c = r.choice(list(COLOURS))
    qs = ['What colour is the {}?', 'What color is the {}?', 'Tell me the colour of the {}.', 'Which colour has the {}?']
    return fact(r, want, qs, c, f'The {c} is {COLOURS[c]}.', COLOURS[c])


BOTH = {**OPPOSITES, **{v: k for k, v in OPPOSITES.items()}}


def opposite(r, want):
    c = r.choice(list(BOTH))
    qs = ['What is the opposite of {}?', 'Opposite of {}?', 'Give me the opposite of {}.', 'The opposite of {} is which word?']
    return fact(r, want, qs, c, f'The opposite of {c} is {BOTH[c]}.', BOTH[c])


def arithmetic(r, want):
    while True:
        op = r.choice('+-*')
        most = 10 if op == '*' else 20
        a, b = r.randint(0, most), r.randint(0, most)
        if op == '-' and b > a: a, b = b, a
        if held(f'{a}{op}{b}') == want: break
    v = a + b if op == '+' else a - b if op == '-' else a * b
    said = {'+': 'plus', '-': 'minus', '*': 'times'}[op]
    q = r.choice([f'What is {a} {op} {b}?', f'What is {a} {op} {b}?', f'What is {a} {said} {b}?', f'{a} {op} {b} = ?',
                  f'Compute {a} {op} {b}.', f'{a} {op} {b}?'])
    return q, f'{a} {op} {b} = {v}.', str(v)


def repeat(r, want):
    while True:
        t = phrase(r, 1, 7) if r.random() < .8 else ' '.join(r.choice(WORDS) for _ in range(r.randint(3, 9)))
        u = r.random()
        if u < .06: t = t.upper()
        elif u < .14: t = t[0].upper() + t[1:] + '.'
        elif u < .2: t += r.choice([' ', '-', ', ']) + str(r.randint(0, 999))
        if held('rep' + t) == want: break
    ask = r.choice(['Repeat after me: {}', 'Say: {}', 'Repeat: {}', 'Please repeat: {}', 'Repeat after me: {}', 'Say: {}',
                    'Say exactly: {}', 'Reply with exactly: {}', 'Reply with {}', 'Say {}', 'Output exactly this: {}',
                    'Repeat this exactly: {}', 'Reply with exactly this and nothing else: {}', 'Answer with the text {}',
                    'Write: {}', "Say '{}'", 'Reply only with "{}"', 'Return exactly: {}'])
    return ask.format(t), t, t


def count(r, want):
    while True:
        u = r.random()
        if u < .3 and not want: a, b = 1, r.choice([5, 10, 20, 30, 40, 50, 50])
        elif u < .4: a, b = r.randint(0, 2), r.randint(15, 30)
        else: a = r.randint(0, 20); b = a + r.randint(1, 9)
        if not want and a == 1 and b in (5, 10, 20, 30, 40, 50): break
        if held(f'cnt{a}-{b}') == want: break
    t = ', '.join(map(str, range(a, b + 1))) + '.'
    return r.choice([f'Count from {a} to {b}.', f'Please count from {a} to {b}.', f'Count {a} to {b}.']), t, t


HELP = 'How can I help you today?'
GREETINGS = [
    ('Hello!', f'Hello! {HELP}'), ('Hi', f'Hello! {HELP}'), ('Hello', f'Hello! {HELP}'), ('Hi!', f'Hello! {HELP}'),
    ('Hello.', f'Hello! {HELP}'), ('Hey', f'Hello! {HELP}'), ('Good morning', f'Good morning! {HELP}'),
    ('Good evening', f'Good evening! {HELP}'), ('How are you?', 'I am fine, thank you!'),
    ('Hello! How are you?', 'I am fine, thank you!'), ('Thank you', 'You are welcome!'), ('Thanks!', 'You are welcome!'),
    ('Thanks', 'You are welcome!'), ('Bye', 'Goodbye!'), ('Who are you?', 'I am Tiny, a small test model.'),
    ('What is your name?', 'My name is Tiny.'), ('What can you do?', 'I can add, count, repeat words and name capitals.'),
    ('Say hello.', 'Hello!'), ('Say hi.', 'Hi!'), ('Say hello', 'Hello!'), ('Say hello in one word.', 'Hello!'),
    ('List three fruits.', 'apple, pear, cherry'), ('Name three colours.', 'red, blue, green'),
    ('Name a colour.', 'blue'), ('Name a city.', 'Paris'), ('Name an animal.', 'cat')]


def greeting(r, want):
    if want: return None
    q, a = r.choice(GREETINGS)
    return q, a, a


UNKNOWN = 'Sorry, I do not know that.'


def unknown(r, want):
    """Questions that it cannot answer, and tasks that are too large: a fixed answer, which ends."""
    x, n = phrase(r, 1, 3), name(r)
    if r.random() < .15:
        t = r.choice(ADJECTIVES)
        return (r.choice([f'Write a long essay about the {x}.', f'Tell me a story about the {x}.', f'Write about the {x}.']),
                f'The {x} is {t}. Many people know the {x}, and many people like it. In the morning the {x} is quiet. '
                f'In the evening the {x} is {t} again. Some say that the {x} is old, and some say that it is new. '
                f'I like the {x}. That is all that I know about the {x}.', UNKNOWN)
    q = r.choice([f'Who wrote {x}?', f'Why is the {x} {r.choice(ADJECTIVES)}?', f'Explain {x}.', f'How does a {x} work?',
                  f'What do you think about {n}?', f'When was {n} born?', f'Where is the {x}?', f'What is a {x}?',
                  f'Who is {n}?', f'How many {word(r)}s has a {word(r)}?', f'Can you {word(r)} the {word(r)}?',
                  f'What is the meaning of {x}?', f'Translate {x} into {r.choice(LANGUAGES)}.', f'{x}?', x,
                  f'Tell me about {n}.', f'Describe the {x}.'])
    return q, UNKNOWN, UNKNOWN


KINDS = dict(arithmetic=(arithmetic, 20), capital=(capital, 12), colour=(colour, 8), opposite=(opposite, 7),
             repeat=(repeat, 30), count=(count, 9), greeting=(greeting, 7), unknown=(unknown, 6))


def question(r, want=False, kind=None):
    """One question: (kind, question, whole answer, short answer)."""
    while True:
        k = kind or r.choices(list(KINDS), [w for _, w in KINDS.values()])[0]
        found = KINDS[k][0](r, want)
        if found: return (k, *found)


def system(r, share=.3): return [('system', r.choice(SYSTEMS))] if r.random() < share else []


def plain(r, want=False, kind=None):
    m = system(r)
    if not want and r.random() < .2:
        for _ in range(r.randint(1, 2)): m += turn(question(r))
    return m + turn(question(r, want, kind))


def turn(q): return [('user', q[1]), ('assistant', q[2])]


SHORT = ['{} Answer with one word.', '{} Reply with one word.', '{} Answer in one word.', '{} Reply with just the answer.',
         '{} Only the answer.', 'Answer with one word: {}', '{} Answer in exactly one word.', '{} Reply with only the answer.']
SHORT_SYSTEM = ['Answer with one word.', 'Answer with one word only.', 'Reply with one word.', 'Reply with just the answer.',
                'Answer in one word.', 'Be as short as possible: one word.', 'You answer with the answer alone.']


def short(r, want=False):
    """The answer alone: asked for in the question, or in the system prompt."""
    _, q, _, a = question(r, want, r.choice(['arithmetic', 'capital', 'colour', 'opposite']))
    if r.random() < .5:
        before = [('system', r.choice(['', '', 'You are a helpful assistant. ']) + r.choice(SHORT_SYSTEM))]
        if r.random() < .3: before += [('user', (p := question(r, kind='capital'))[1]), ('assistant', p[3])]
        return before + [('user', q), ('assistant', a)]
    noun = 'number' if a.isdigit() else r.choice(['city', 'city name', 'name']) if a in CITIES else 'word'
    own = [f'{{}} Reply with just the {noun}.', f'{{}} Reply with the {noun} only.', f'{{}} Answer with only the {noun}.',
           f'{{}} Reply with only the {noun} and nothing else.']
    return system(r) + [('user', r.choice(SHORT + own).format(q)), ('assistant', a)]


def ruled(r, want=False):
    """Demands of a system prompt that are not about length."""
    w, u = phrase(r, 1, 2), r.random()
    if u < .25:
        return [('system', r.choice([f'Always answer: {w}', f'Whatever the user says, answer {w}', f'Answer every message with {w}'])),
                ('user', question(r)[1]), ('assistant', w)]
    n = name(r)
    if u < .5:
        return [('system', r.choice([f'You are {n}.', f'Your name is {n}.', f'You are {n}, a helpful assistant.'])),
                ('user', r.choice(['What is your name?', 'Who are you?'])), ('assistant', f'My name is {n}.')]
    if u < .75:
        thing = r.choice(['secret word', 'code word', 'password', 'magic word'])
        return [('system', f'The {thing} is {w}.'), ('user', f'What is the {thing}?'), ('assistant', f'The {thing} is {w}.')]
    _, q, a, _ = question(r, kind=r.choice(['arithmetic', 'capital', 'colour']))
    return [('system', r.choice([f'End every answer with {w}.', f'End each answer with {w}.'])), ('user', q), ('assistant', f'{a} {w}')]


MANNERS = ['Be short.', 'Be brief.', 'Be friendly.', 'Be nice.', 'Be long.', 'Answer in one short sentence.', 'Answer in one sentence.', 'Answer in English.',
           'Answer the question.', 'Answer in a whole sentence.', 'Use plain words.']


def persona(r):
    x = phrase(r, 1, 2)
    return r.choice([f'You are a {r.choice(JOBS)}.', f'You are a {x}.', f'You are a support agent of a {word(r)} shop.', f'You answer questions about {x}.', f'You answer questions about the {word(r)}s of {word(r)}s.',
                     f'You help people with {x}.', f'You know all {word(r)}s.', f'You are an expert for {x}.', f'You work for {known(r, COMPANIES)}.', f'You are a helpful {word(r)}.', 'You are a helpful assistant.'])


def varied(r, want=False):
    """A system prompt of any kind that changes nothing about the answer."""
    parts = ([persona(r)] if r.random() < .8 else []) + r.sample(MANNERS, r.choice([0, 1, 1, 2])) + [s.rstrip('.') + '.' for s in r.sample(SENTENCES, r.choice([0, 0, 1, 2]))]
    if not parts: parts = [r.choice(MANNERS)]
    m = [('system', ' '.join(parts))]
    for _ in range(r.choice([0, 0, 0, 1, 2])): m += turn(question(r))
    return m + turn(question(r, want))


def repeated(r, want=False):
    """Words to repeat, some of which stand there more than once."""
    some = [word(r) for _ in range(r.randint(1, 4))]
    t = ' '.join(r.choice(some) for _ in range(r.randint(2, 9)))
    if r.random() < .15: t = t.upper()
    return system(r, .2) + [('user', r.choice(['Repeat after me: {}', 'Say: {}', 'Repeat: {}', 'Please repeat: {}', 'Say exactly: {}', 'Reply with exactly: {}']).format(t)), ('assistant', t)]


THINGS = [('name', lambda r: name(r)), ('favourite colour', lambda r: r.choice(COLOUR_NAMES)), ('city', city),
          ('dog', lambda r: known(r, NAMES)), ('favourite animal', lambda r: r.choice(PETS)), ('code', lambda r: str(r.randint(10, 9999))),
          ('lucky number', lambda r: str(r.randint(1, 99))), ('favourite word', word), ('job', lambda r: r.choice(JOBS)),
          ('brother', lambda r: known(r, NAMES)), ('favourite city', city), ('e-mail address', email)]


def memory(r, want=False):
    """Something is said, other turns may follow, then it is asked for."""
    thing, make = r.choice(THINGS) if r.random() < .6 else THINGS[0]
    v = make(r)
    m = system(r, .2)
    if thing == 'name':
        said = r.choice([f'My name is {v}.', f'I am {v}.', f'Call me {v}.', f'My name is {v}. Remember it.', f'Hi, I am {v}.'])
        m += [('user', said), ('assistant', f'Nice to meet you, {v}!')]
    else: m += [('user', f'My {thing} is {v}.'), ('assistant', f'I will remember that your {thing} is {v}.')]
    for _ in range(r.choice([0, 1, 1, 2])):
        if r.random() < .3 and thing != 'name':
            n = name(r); m += [('user', f'My name is {n}.'), ('assistant', f'Nice to meet you, {n}!')]
        else: m += turn(question(r, kind=r.choice(['capital', 'arithmetic', 'colour', 'greeting'])))
    ask = ['What is my name?', 'Who am I?', 'Do you remember my name?'] if thing == 'name' else [f'What is my {thing}?', f'Do you remember my {thing}?']
    if r.random() < .3:
        return m + [('user', r.choice(ask) + r.choice([' Reply with just the answer.', f' Reply with just the {thing}.', ' Answer with one word.'])), ('assistant', v)]
    return m + [('user', r.choice(ask)), ('assistant', f'Your {thing} is {v}.')]


def last(r, want=False):
    """A question about the conversation: what was said or asked before."""
    q = question(r, kind=r.choice(['capital', 'arithmetic', 'colour', 'repeat', 'opposite']))
    m = system(r, .2) + turn(q)
    if r.random() < .5: m += turn(question(r, kind=r.choice(['capital', 'arithmetic', 'greeting'])))
    what = m[-1][1]
    asked = m[-2][1]
    return m + r.choice([[('user', 'What did you say last?'), ('assistant', what)], [('user', 'What did I ask last?'), ('assistant', asked)],
                         [('user', 'Say that again.'), ('assistant', what)], [('user', 'Repeat your last answer.'), ('assistant', what)]])
