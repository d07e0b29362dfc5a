"""Answers in JSON: extracted from a text, of a known kind, or with the keys of a schema that the model does not see.

A response format does not reach the prompt: its grammar forces the keys. So in many samples the keys of the answer are
not learned, only the values and their ends (`Json.spans` has the learned parts).
"""
import json
from basics import question
from words import *


class Json:
    """Writes JSON and notes which parts are learned."""
    def __init__(self): self.text, self.spans = '', []

    def add(self, text, learned):
        if learned: self.spans.append((len(self.text), len(self.text) + len(text)))
        self.text += text

    def value(self, v, keys, values=True):
        """`keys`: the keys are learned too."""
        if isinstance(v, dict):
            self.add('{', keys)
            for i, (k, one) in enumerate(v.items()):
                if i: self.add(', ', keys)
                self.add(json.dumps(k) + ': ', keys)
                self.value(one, keys, values)
                if not keys: self.spans.append((len(self.text), len(self.text) + 1))    # ends the value
            self.add('}', values)
        elif isinstance(v, list):
            self.add('[', keys)
            for i, one in enumerate(v):
                if i: self.add(', ', values)
                self.value(one, keys, values)
            self.add(']', values)
        elif isinstance(v, str):
            self.add('"', keys)
            self.add(json.dumps(v, ensure_ascii=False)[1:], values)
        else: self.add(json.dumps(v), values)
        return self


def answer(v, keys=True):
    j = Json().value(v, keys)
    n = len(j.text)
    return ('assistant', j.text, [(a, min(b, n)) for a, b in j.spans])


KEYS = dict(
    name=['name', 'name', 'name', 'full_name', 'person', 'customer', 'user', 'author', 'fullName', 'customer_name'], age=['age', 'age', 'years', 'age_in_years'],
    city=['city', 'city', 'town', 'location', 'place', 'home', 'address'], email=['email', 'email', 'email_address', 'mail', 'contact'],
    job=['job', 'job', 'profession', 'occupation', 'role', 'title'], born=['birthday', 'born', 'birth_date', 'date_of_birth', 'date', 'dateOfBirth'],
    colour=['color', 'colour', 'favorite_color', 'favourite_colour'], languages=['languages', 'languages', 'skills', 'tags'],
    pet=['pet', 'animal'], item=['item', 'product', 'article', 'thing'], quantity=['quantity', 'count', 'amount', 'number', 'pieces'],
    price=['price', 'total', 'cost', 'total_price'], company=['company', 'employer', 'organisation', 'organization'],
    date=['date', 'day', 'due_date', 'when', 'delivery_date'], status=['status', 'state'], order=['order', 'order_id', 'id', 'order_number', 'orderId'],
    event=['event', 'name', 'title', 'event_name'], participants=['participants', 'people', 'attendees', 'guests', 'names'], weekday=['day', 'date', 'weekday', 'when'],
    place=['place', 'location', 'city', 'venue'])


def person(r):
    """Facts about a person, and sentences that say them."""
    n = name(r, .35)
    f = dict(name=n)
    parts = []
    def fact(key, v, text): f[key] = v; parts.append(text)
    who = r.choice(['He', 'She'])
    kinds = r.sample(['age', 'city', 'email', 'job', 'born', 'colour', 'languages', 'pet', 'company'], r.randint(1, 4))
    for k in kinds:
        if k == 'age': a = r.randint(1, 99); fact(k, a, r.choice([f'is {a} years old', f'is {a}']))
        if k == 'city': c = city(r); fact(k, c, r.choice([f'lives in {c}', f'is from {c}', f'comes from {c}']))
        if k == 'email': e = email(r, n if r.random() < .6 else None); fact(k, e, r.choice([f'has the e-mail address {e}', f'can be reached at {e}', f'has the email {e}']))
        if k == 'job': j = r.choice(JOBS); fact(k, j, r.choice([f'is a {j}', f'works as a {j}']))
        if k == 'born': t, iso = date(r); fact(k, iso, f'was born on {t}')
        if k == 'colour': c = r.choice(COLOUR_NAMES); fact(k, c, f'likes {c}')
        if k == 'languages': some = r.sample(LANGUAGES, r.randint(1, 3)); fact(k, some, f'speaks {listed(some)}')
        if k == 'pet': p = r.choice(PETS); fact(k, p, f'has a {p}')
        if k == 'company': c = known(r, COMPANIES); fact(k, c, f'works at {c}')
    if len(parts) == 1 or r.random() < .4: text = f'{n} {listed(parts)}.'
    else: text = f'{n} {parts[0]}. ' + ' '.join(f'{who} {p}.' for p in parts[1:])
    if 'email' in kinds and r.random() < .2: text = f'{n} <{f["email"]}> ' + text[len(n) + 1:]
    return f, text


def order(r):
    n, item, price, o = r.randint(1, 20), r.choice(ITEMS) if r.random() < .7 else word(r), r.randint(1, 500), r.randint(100, 9999)
    who, (t, iso), status = name(r), date(r), r.choice(['shipped', 'open', 'paid', 'cancelled', 'pending', 'delivered'])
    if r.random() < .3: price += r.randint(1, 99) / 100
    f = dict(order=o, item=item, quantity=n, price=price, name=who, date=iso, status=status)
    s = '' if n == 1 else 's'
    text = r.choice([
        f'Order {o}: {who} bought {n} {item}{s} for {price} euros on {t}. The order is {status}.',
        f'{who} ordered {n} {item}{s} for {price} dollars. The order {o} of {t} is {status}.',
        f'Order {o} for {who}, {n} {item}{s}, total {price}, date {t}, status {status}.'])
    return f, text


def event(r):
    people = [known(r, NAMES) for _ in range(r.randint(1, 3))]
    e, day, c = r.choice(EVENTS) if r.random() < .7 else phrase(r, 1, 2), r.choice(WEEKDAYS), city(r)
    verb = 'is' if len(people) == 1 else 'are'
    f = dict(event=e, weekday=day, participants=people)
    if r.random() < .4:
        f['place'] = c
        return f, f'{listed(people)} {verb} going to a {e} in {c} on {day}.'
    return f, f'{listed(people)} {verb} going to a {e} on {day}.'


def pairs(r):
    """Invented fields: `lamp: green, bridge: 7`."""
    keys = []
    while len(keys) < r.randint(1, 4):
        k = word(r) if r.random() < .7 else f'{word(r)}_{word(r)}'
        if k not in keys: keys.append(k)
    f = {k: r.choice([word(r), phrase(r, 1, 3), r.randint(0, 999), r.randint(0, 99), r.random() < .5]) for k in keys}
    say = lambda v: {True: 'yes', False: 'no'}[v] if isinstance(v, bool) else v
    style = r.randint(0, 2)
    spoken = lambda k: k.replace('_', ' ')
    text = (', '.join(f'{spoken(k)}: {say(v)}' for k, v in f.items()) if style == 0 else
            ' '.join(f'The {spoken(k)} is {say(v)}.' for k, v in f.items()) if style == 1 else
            '\n'.join(f'{spoken(k)} = {say(v)}' for k, v in f.items()))
    return f, text


def record(r, nested=True):
    """(keys and values, text): some keys in any order, sometimes one whose value is not in the text."""
    make = r.choices([person, order, event, pairs], [45, 15, 20, 20])[0]
    f, text = make(r)
    ks = list(f)
    r.shuffle(ks)
    if r.random() < .5 and 'name' in ks: ks.remove('name'); ks.insert(0, 'name')
    ks = ks[:r.randint(1, len(ks))]
    out = {}
    for k in ks:
        key = r.choice(KEYS.get(k, [k]))
        if key not in out: out[key] = f[k]
    if r.random() < .12:
        missing = r.choice([word(r), 'phone', 'country', 'notes', 'email', 'age'])
        if missing not in out and missing not in f:
            out[missing] = 0 if missing == 'age' else 'unknown'
    if nested and r.random() < .12: out = {r.choice(['person', 'user', 'data', 'result', 'item', 'order', word(r)]): out}
    return out, text


def typed(v):
    if isinstance(v, bool): return {'type': 'boolean'}
    if isinstance(v, int): return {'type': 'integer'}
    if isinstance(v, float): return {'type': 'number'}
    if isinstance(v, list): return {'type': 'array', 'items': typed(v[0]) if v else {'type': 'string'}}
    if isinstance(v, dict): return schema(v)
    return {'type': 'string'}


def schema(v): return {'type': 'object', 'properties': {k: typed(x) for k, x in v.items()}, 'required': list(v)}


def fenced(message):
    _, text, spans = message
    before = '```json\n'
    n = len(before)
    whole = before + text + '\n```'
    return ('assistant', whole, [(0, n)] + [(a + n, b + n) for a, b in spans] + [(n + len(text), len(whole))])


ASK = ['Extract the data: {}', 'Extract the information: {}', '{}', '{}', '{} Extract the fields.', 'Extract: {}', 'Extract the event information. {}',
       'Parse this text: {}', 'Get the details from this text: {}', '{} Answer in JSON.', 'Turn this into JSON: {}', 'Extract a record from: {}']
ASK_SYSTEM = ['Extract the data.', 'Extract the event information.', 'You extract data from texts.', 'Extract the information as JSON.', 'Answer in JSON.']
FENCE = [' Answer with a JSON code block.', ' Write it in a ```json block.', ' Return it inside a fenced JSON block.', ' Use a ```json code block.',
         ' Return the correct JSON response within a ```json codeblock.', ' As JSON in a code block.']


def extraction(r, want=False):
    """The keys come from a grammar, are named in the question, or stand in a schema of the prompt."""
    v, text = record(r)
    u = r.random()
    if u < .55:
        m = [('system', r.choice(ASK_SYSTEM))] if r.random() < .35 else []
        return m + [('user', (text if m else r.choice(ASK).format(text))), answer(v, keys=False)]
    if u < .75:
        names = r.choice([', '.join(v), listed(list(v))])
        q = r.choice(['Extract {} as JSON: {}', 'Give me {} as JSON. {}', 'Give {} as JSON for this text: {}', 'Extract {} from this text as JSON: {}'])
        q, a = q.format(names, text), answer(v)
        if r.random() < .4: q, a = q + r.choice(FENCE), fenced(a)
        return [('user', q), a]
    s = json.dumps(schema(v))
    says = r.choice(['Answer with JSON that matches this schema: {}', 'Give the parsed object as JSON that matches the following json_schema:\n{}',
                     'Extract the data as JSON by this schema:\n{}', 'The JSON schema of the answer is: {}'])
    a = answer(v)
    if r.random() < .5: return [('system', says.format(s)), ('user', text), a]
    if r.random() < .6: return [('system', says.format(s)), ('user', text + r.choice(FENCE)), fenced(a)]
    return [('user', text + '\n' + says.format(s)), a]


KNOWN = [
    ('a person', ['name', 'age', 'city', 'email', 'job'], ['Anna', 30, 'Paris', 'anna@example.com', 'teacher']),
    ('a user', ['name', 'email', 'age', 'active'], ['Anna', 'anna@example.com', 30, True]),
    ('a city', ['name', 'country', 'population'], ['Paris', 'France', 2000000]), ('a date', ['date'], ['2024-05-17']),
    ('an address', ['street', 'city', 'country'], ['Main Street 1', 'Paris', 'France']), ('a product', ['name', 'price', 'colors'], ['lamp', 20, ['red', 'blue']]),
    ('a book', ['title', 'author', 'year'], ['The River', 'Anna Smith', 2001]), ('a colour', ['color'], ['blue']),
    ('an order', ['id', 'item', 'quantity', 'price'], [4471, 'lamp', 3, 20]), ('an event', ['name', 'date', 'participants'], ['meeting', '2024-05-17', ['Anna', 'Ben']]),
    ('three fruits', ['fruits'], [['apple', 'pear', 'cherry']]), ('three colours', ['colors'], [['red', 'green', 'blue']]),
    ('a list of cities', ['cities'], [['Paris', 'Rome', 'Berlin']]), ('a list of names', ['names'], [['Anna', 'Ben', 'Carla']]),
    ('a recipe', ['name', 'ingredients', 'steps'], ['apple cake', ['apples', 'flour', 'sugar'], ['mix', 'bake']]),
    ('an animal', ['name', 'kind', 'age'], ['Leo', 'cat', 3]), ('an e-mail address', ['email'], ['anna@example.com'])]
ALL = {}
for _, ks, vs in KNOWN:
    for k, v in zip(ks, vs): ALL.setdefault(k, v)
ALL.update(title='The River', text='This is a text.', summary='This is a summary.', description='This is a description.', reason='This is the reason.', status='ok',
           message='Hello!', ok=True, valid=True, count=3, score=5, rating=5, phone='555 1234', url='https://example.com', id=1, tags=['one', 'two'], items=['one', 'two'],
           first_name='Anna', last_name='Smith', username='anna', country='France', sentiment='positive', priority='high', category='other', type='other',
           language='English', currency='euro', level=1, number=7, value=7, comment='This is a comment.', pets=['Leo', 'Mia'], hobbies=['music', 'books'], done=True,
           answer='yes', note='This is a note.', explanation='This is the reason.', birthday='1990-05-17', height=180, weight=70, year=2024)


def invented(r, want=False):
    """Free JSON of a known kind, or the usual values for keys that a grammar forces."""
    if r.random() < .45:
        what, ks, vs = r.choice(KNOWN)
        n = len(ks) if r.random() < .6 else r.randint(1, len(ks))
        v = dict(list(zip(ks, vs))[:n])
        q = r.choice(['Give me {} as JSON', 'Give me {} as JSON.', 'Write {} as JSON.', 'Return {} as a JSON object.', 'Invent {} and answer in JSON.', 'Make {} in JSON.'])
        a = answer(v, keys=n == len(ks))
        if r.random() < .3: return [('user', q.format(what).rstrip('.') + '.' + r.choice(FENCE)), fenced(a)]
        return system(r) + [('user', q.format(what)), a]
    ks = r.sample(list(ALL), r.randint(1, 6))
    v = {k: ALL[k] for k in ks}
    if r.random() < .15: v = {r.choice(['data', 'result', 'user', 'person', 'item']): v}
    q = r.choice(['Give me JSON.', 'Return the JSON object required by the schema.', 'Answer in JSON.', 'Hello', 'Hi', 'Invent a person.', 'Give me an example.', 'Generate an example.',
                  'Make up some data.', 'Create a record.', 'Fill the fields.', f'Generate a {word(r)}.', f'Give me a {word(r)}.', f'Describe a {word(r)}.', f'Invent a {word(r)}.',
                  'Generate a random user.', 'Generate a person.', 'Give me a person.'])
    return system(r, .15) + [('user', q), answer(v, keys=False)]


def system(r, share=.2): return [('system', 'You are a helpful assistant.')] if r.random() < share else []


def factual(r, want=False):
    """A question of the basics, answered in JSON."""
    kind, q, a, s = question(r, want, r.choice(['capital', 'capital', 'arithmetic', 'colour', 'opposite']))
    v = {}
    number = s.isdigit()
    main = {'capital': ['city', 'capital', 'answer', 'name', 'result'], 'arithmetic': ['sum', 'result', 'answer', 'value', 'number', 'total', 'final_answer'],
            'colour': ['color', 'colour', 'answer', 'value'], 'opposite': ['opposite', 'word', 'answer', 'result']}[kind]
    extra = {r.choice(['explanation', 'reason', 'text', 'sentence']): a}
    if kind == 'capital': extra[r.choice(['country', 'land'])] = next(c for c, t in CAPITALS.items() if t == s and c in q)
    if number: extra[r.choice(['isEven', 'is_even', 'even'])] = int(s) % 2 == 0
    key = r.choice(main)
    v[key] = int(s) if number and (key != 'answer' or r.random() < .5) else s
    for k in r.sample(list(extra), r.choice([0, 1, len(extra)])): v[k] = extra[k]
    if r.random() < .4: v = dict(reversed(list(v.items())))
    u = r.random()
    if u < .4: return [('user', q), answer(v, keys=False)]
    if u < .55: return [('system', r.choice(['Answer in JSON.', 'Answer as JSON.'])), ('user', q), answer(v, keys=False)]
    v = {'answer': int(s) if number else s}
    a = answer(v)
    q += r.choice([' Answer in JSON.', ' Answer as JSON.', ' Reply in JSON.'])
    if r.random() < .4: q, a = q + r.choice(FENCE), fenced(a)
    return [('user', q), a]
