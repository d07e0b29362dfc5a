"""Calls of tools, answers from their results, and questions that no tool fits."""
import json
from basics import UNKNOWN, question, turn
from objects import answer as json_answer, schema
from words import *


def tools_text(tools, before=''):
    """The system part, as the chat template writes it."""
    lines = '\n'.join(json.dumps(t, ensure_ascii=False) for t in tools)
    head = before + '\n\n' if before else ''
    return (f'{head}# Tools\n\n<tools>\n{lines}\n</tools>\n\nTo call a tool: '
            '<tool_call>\n{"name": …, "arguments": {…}}\n</tool_call>')


def call_text(calls):
    return '\n'.join(f'<tool_call>\n{json.dumps(dict(name=n, arguments=a), ensure_ascii=False)}\n</tool_call>' for n, a in calls)


def results_text(results):
    return '\n'.join(f'<tool_response>\n{t}\n</tool_response>' for t in results)


def S(*keys): return list(keys)


def expression(r):
    op = r.choice('+-*/')
    return f'{r.randint(0, 99)} {op} {r.randint(1, 99)}'


# Each kind: names, descriptions, arguments (names, maker, words for its description), questions, results. {0} is the first argument.
TOOLS = [
    dict(names=S('get_weather', 'get_weather', 'weather', 'getWeather', 'get_current_weather', 'current_weather', 'fetch_weather', 'lookup_weather', 'get_forecast'),
         says=S('Get the weather of a city', 'Get the current weather for a city.', 'Returns the weather in a city.', 'The current weather', 'Get weather for a location'),
         args=[(S('city', 'city', 'location', 'place', 'town'), city, 'The city')], optional=[(S('unit', 'units'), ['celsius', 'fahrenheit'])],
         asks=S('What is the weather in {0}?', "What's the weather in {0}?", 'How is the weather in {0}?', 'Weather in {0}?', 'Tell me the weather in {0}.', 'Is it raining in {0}?',
                "What's the weather like in {0} right now?", 'What is the weather like in {0} today?', "What's the weather in {0}? Use the weather tool.", 'What is the temperature in {0}?'),
         results='weather'),
    dict(names=S('get_time', 'current_time', 'get_current_time', 'time', 'clock', 'getTime'), says=S('Get the time in a city', 'Returns the current time.', 'Get the current time in a city.', 'Get the current time in a timezone.'),
         args=[(S('city', 'city', 'location', 'place', 'timezone'), city, 'The city')], asks=S('What time is it in {0}?', 'What is the time in {0}?', 'Tell me the time in {0}.', 'Current time in {0}?'), results='time'),
    dict(names=S('add', 'sum', 'add_numbers', 'plus', 'addNumbers', 'calculate_sum'), says=S('Add two numbers', 'Adds two numbers.', 'Returns the sum of a and b.', 'Sum of two numbers'),
         args=[(S('a', 'a', 'x', 'first', 'left'), lambda r: r.randint(0, 999), 'The first number'), (S('b', 'b', 'y', 'second', 'right'), lambda r: r.randint(0, 999), 'The second number')],
         asks=S('What is {0} + {1}?', 'Add {0} and {1}.', 'What is {0} plus {1}?', 'Compute {0} + {1}.', 'What is the sum of {0} and {1}?', 'Add {0} and {1}', 'Use the tool to add {0} and {1}.'), results='number'),
    dict(names=S('multiply', 'times', 'product', 'multiply_numbers'), says=S('Multiply two numbers', 'Multiplies two numbers.', 'Returns the product of a and b.'),
         args=[(S('a', 'a', 'x', 'first'), lambda r: r.randint(0, 99), 'The first number'), (S('b', 'b', 'y', 'second'), lambda r: r.randint(0, 99), 'The second number')],
         asks=S('What is {0} * {1}?', 'Multiply {0} by {1}.', 'What is {0} times {1}?', 'Multiply {0} and {1}.'), results='number'),
    dict(names=S('calculator', 'calculate', 'evaluate', 'compute', 'math'), says=S('Evaluate an expression', 'Calculates an arithmetic expression.', 'A calculator', 'Useful for sums'),
         args=[(S('expression', 'expression', 'input', 'query', 'formula'), expression, 'The expression')],
         asks=S('What is {0}?', 'Calculate {0}.', 'Compute {0}', 'Use the calculator: {0}', 'How much is {0}?'), results='number'),
    dict(names=S('search', 'web_search', 'search_web', 'google', 'find', 'searchDocs', 'lookup'), says=S('Search the web', 'Search the web for a query.', 'Searches documents.', 'Find pages about a topic', 'Useful for finding facts'),
         args=[(S('query', 'query', 'q', 'text', 'input', 'search_query', 'topic'), lambda r: phrase(r, 1, 4), 'The query')], optional=[(S('limit', 'max_results', 'top_k'), 5)],
         asks=S('Search for {0}.', 'Search for {0}', 'Search the web for {0}.', 'Find pages about {0}.', 'Look up {0}.', 'Find out about {0}.', 'Search: {0}'), results='text'),
    dict(names=S('read_file', 'read_file', 'readFile', 'open_file', 'cat', 'get_file', 'read'), says=S('Read a file', 'Reads a file and returns its text.', 'Read the content of a file', 'Returns the contents of a file.'),
         args=[(S('path', 'path', 'file', 'filename', 'file_path'), path, 'The path of the file')],
         asks=S('Read {0}.', 'Read the file {0}.', 'What is in {0}?', 'Show me {0}.', 'Open {0}.', 'What does {0} say?', 'Read the file {0}', 'Read {0}'), results='text'),
    dict(names=S('write_file', 'writeFile', 'save_file', 'create_file'), says=S('Write a file', 'Writes text to a file.', 'Save a text as a file'),
         args=[(S('path', 'path', 'file', 'filename'), path, 'The path of the file'), (S('content', 'content', 'text', 'contents'), lambda r: phrase(r, 1, 5), 'The text')],
         asks=S('Write {1} to {0}.', 'Save {1} as {0}.', 'Create the file {0} with the text {1}', 'Write the file {0} with the content {1}'), results='done'),
    dict(names=S('list_files', 'ls', 'list_directory', 'listFiles'), says=S('List the files of a folder', 'Lists a directory.'), args=[(S('path', 'folder', 'directory', 'dir'), lambda r: r.choice(['.', 'src', 'docs', '/tmp', word(r)]), 'The folder')],
         asks=S('List the files in {0}.', 'Which files are in {0}?', 'What is in the folder {0}?'), results='text'),
    dict(names=S('shell', 'bash', 'run_command', 'exec', 'run'), says=S('Run a command', 'Runs a shell command and returns its output.'), args=[(S('command', 'command', 'cmd'), lambda r: r.choice(['ls', 'pwd', 'date', 'npm test', f'cat {path(r)}', f'echo {word(r)}']), 'The command')],
         asks=S('Run {0}', 'Run the command {0}', 'Execute {0}', 'Run `{0}`'), results='text'),
    dict(names=S('send_email', 'send_mail', 'sendEmail', 'email'), says=S('Send an e-mail', 'Sends an e-mail to somebody.'), args=[(S('to', 'recipient', 'address', 'email'), email, 'The receiver'), (S('subject', 'text', 'body', 'message'), lambda r: phrase(r, 1, 4), 'The text')],
         asks=S('Send an e-mail to {0}: {1}', 'Write a mail to {0} that says {1}', 'E-mail {0}: {1}'), results='done'),
    dict(names=S('get_user', 'find_user', 'lookup_user', 'get_customer', 'getUser'), says=S('Get a user by name', 'Finds a user.', 'Look up a customer'), args=[(S('name', 'name', 'user', 'username'), name, 'The name')],
         asks=S('Find the user {0}.', 'Who is the user {0}?', 'Look up {0}.', 'Get the user {0}.'), results='json'),
    dict(names=S('get_stock_price', 'stock_price', 'getStockPrice'), says=S('Get the price of a stock', 'Returns the current stock price.'), args=[(S('symbol', 'ticker', 'company'), lambda r: r.choice([known(r, COMPANIES), ''.join(r.choice('ABCDEFGHKLMNPRST') for _ in range(r.randint(2, 4)))]), 'The stock')],
         asks=S('What is the stock price of {0}?', 'How much is {0}?', 'Stock price of {0}?'), results='number'),
    dict(names=S('book_table', 'reserve_table', 'make_reservation'), says=S('Book a table in a restaurant', 'Reserves a table.'), args=[(S('restaurant', 'name', 'place'), lambda r: phrase(r, 1, 2).title(), 'The restaurant'), (S('people', 'party_size', 'guests', 'seats'), lambda r: r.randint(1, 12), 'How many people')],
         optional=[(S('outdoor', 'outside'), True)], asks=S('Book a table at {0} for {1} people.', 'Book me a table at {0} for {1}.', 'Reserve a table at {0} for {1} people, please.'), results='done'),
    dict(names=S('get_capital', 'capital_of', 'country_info', 'lookup_country'), says=S('Get the capital of a country', 'Returns facts about a country.'), args=[(S('country', 'country', 'name', 'land'), lambda r: r.choice(list(CAPITALS)), 'The country')],
         asks=S('What is the capital of {0}?', 'Use the tool: what is the capital of {0}?', 'Look up the capital of {0}.'), results='capital'),
    dict(names=S('translate', 'translate_text'), says=S('Translate a text', 'Translates a text into a language.'), args=[(S('text', 'input'), lambda r: phrase(r, 1, 4), 'The text'), (S('language', 'target', 'to', 'target_language'), lambda r: r.choice(LANGUAGES), 'The language')],
         asks=S('Translate {0} into {1}.', 'Translate "{0}" into {1}', 'What is {0} in {1}?'), results='text'),
    dict(names=S('set_timer', 'start_timer', 'set_alarm'), says=S('Set a timer', 'Starts a timer.'), args=[(S('minutes', 'duration', 'length'), lambda r: r.randint(1, 90), 'The minutes')], asks=S('Set a timer for {0} minutes.', 'Start a timer of {0} minutes'), results='done'),
    dict(names=S('create_event', 'add_event', 'schedule_meeting'), says=S('Create an event in the calendar', 'Adds a meeting.'), args=[(S('title', 'name', 'event'), lambda r: r.choice(EVENTS), 'The title'), (S('date', 'day'), lambda r: r.choice([date(r)[1], r.choice(WEEKDAYS)]), 'The day')],
         asks=S('Add a {0} on {1}.', 'Create the event {0} on {1}.', 'Put a {0} on {1} into my calendar.'), results='done'),
]
VERBS = 'polish paint repair open close count check order move find wash measure print lock start stop load copy delete update'.split()


def invented(r):
    """A tool whose name no list contains: its name and description are words of the question."""
    verb, noun = r.choice(VERBS), word(r)
    args, asks = [], ''
    if r.random() < .85: args.append((S('name', 'id', 'who', 'person', word(r)), r.choice([name, city, lambda r: r.randint(1, 999), lambda r: phrase(r, 1, 2)]), f'The {noun}'))
    if args and r.random() < .4: args.append((S('amount', 'level', 'number', word(r)), lambda r: r.randint(0, 99), 'How much'))
    asks = [f'{verb.capitalize()} the {noun}.', f'Please {verb} the {noun}.'] if not args else \
        [f'{verb.capitalize()} the {noun} {{0}}.', f'Please {verb} the {noun} {{0}}.', f'{verb.capitalize()} the {noun} for {{0}}.'] if len(args) == 1 else \
        [f'{verb.capitalize()} the {noun} {{0}} with {{1}}.', f'Please {verb} the {noun} {{0}}, {args[1][0][0]} {{1}}.']
    return dict(names=[r.choice([f'{verb}_{noun}', f'{verb}_{noun}', f'{verb}{noun.capitalize()}', f'{noun}_{verb}'])], says=[r.choice([f'{verb.capitalize()} the {noun}', f'{verb.capitalize()}s a {noun}.'])], args=args, asks=asks, results=r.choice(['done', 'number', 'text', 'json']))


def declared(r, kind):
    """The tool as the prompt shows it: (json, names of the arguments, kind)."""
    used = []
    for names, make, says in kind['args']:
        k = r.choice(names)
        while k in used: k = r.choice(names + [word(r)])
        used.append(k)
    describes, props = r.random() < .35, {}
    for k, (_, make, says) in zip(used, kind['args']):
        props[k] = {'type': 'integer' if isinstance(make(r), int) else 'string', **({'description': says} if describes else {})}
        if props[k]['type'] == 'integer' and r.random() < .5: props[k]['type'] = 'number'
    extra = None
    for names, values in kind.get('optional', []):
        if r.random() < .4:
            extra = (r.choice(names), values)
            t = {'type': 'string', 'enum': values} if isinstance(values, list) else {'type': 'boolean' if values is True else 'integer'}
            props[extra[0]] = t
    p = {'type': 'object', 'properties': props}
    if r.random() < .7: p['required'] = used
    if r.random() < .2: p['additionalProperties'] = False
    t = {'name': r.choice(kind['names'])}
    if r.random() < .9: t['description'] = r.choice(kind['says'])
    t['parameters'] = p
    if r.random() < .1: t['strict'] = True
    return dict(json=t, args=used, kind=kind, extra=extra)


def use(r, tool):
    """A question for the tool: (question, call, values)."""
    kind = tool['kind']
    values = [make(r) for _, make, _ in kind['args']]
    q = r.choice(kind['asks']).format(*values)
    args = dict(zip(tool['args'], values))
    if tool['extra'] and r.random() < .5:
        k, v = tool['extra']
        if isinstance(v, list):
            one = r.choice(v)
            q = q.rstrip('.?') + r.choice([f' in {one}?', f'? Give it to me in {one}.', f', in {one}.'])
            args[k] = one
        elif v is True: q = q.rstrip('.') + ', outdoors.'; args[k] = True
        else: n = r.randint(1, 20); q = q.rstrip('.') + f', at most {n} results.'; args[k] = n
    if r.random() < .05: q += r.choice([' Use the tool.', f' Use {tool["json"]["name"]}.', ' Call the tool.'])
    return q, (tool['json']['name'], args), values


def result(r, kind, values):
    """(what the tool returns, the answer)"""
    k = kind['results']
    if k == 'weather':
        t, c, place = r.randint(-9, 38), r.choice(CONDITIONS), values[0]
        got = r.choice([json.dumps({r.choice(['temperature', 'temp', 'degrees']): t, r.choice(['condition', 'conditions', 'weather', 'sky']): c}), f'{t} degrees, {c}', f'{c}, {t} degrees', f'{t}°C and {c}', f'{c.capitalize()}, {t} degrees in {place}'])
        return got, f'The weather in {place} is {c}, {t} degrees.'
    if k == 'time':
        t = f'{r.randint(0, 23):02d}:{r.randint(0, 59):02d}'
        return r.choice([t, json.dumps({'time': t})]), f'It is {t} in {values[0]}.'
    if k == 'capital':
        c = CAPITALS[values[0]]
        return r.choice([c, json.dumps({'capital': c})]), f'The capital of {values[0]} is {c}.'
    if k == 'number':
        n = r.randint(0, 9999)
        return r.choice([str(n), str(n), json.dumps({r.choice(['result', 'value', 'sum', 'price']): n})]), f'The result is {n}.'
    if k == 'done': return r.choice(['ok', 'done', '{"ok": true}', '{"status": "ok"}', 'success', 'true']), 'Done.'
    if k == 'json':
        d = dict([('name', name(r)), ('age', r.randint(1, 99)), ('city', city(r)), ('email', email(r)), ('status', r.choice(['active', 'open', 'closed']))][i] for i in sorted(r.sample(range(5), r.randint(1, 3))))
        return json.dumps(d, ensure_ascii=False), 'I found: ' + ', '.join(f'{a} {b}' for a, b in d.items()) + '.'
    t = phrase(r, 1, 7)
    if r.random() < .4: t = t[0].upper() + t[1:] + '.'
    return t, f'I found: {t}'


def toolbox(r, most=3):
    """Different tools, the first of which is asked for."""
    kinds, tools, names = [], [], set()
    while len(tools) < r.randint(1, most):
        k = invented(r) if r.random() < .35 else r.choice(TOOLS)
        t = declared(r, k)
        if k in kinds or t['json']['name'] in names or any(sorted(k['says']) == sorted(o['says']) for o in kinds): continue
        if {k['results'], *(o['results'] for o in kinds)} >= {'number'} and len([1 for o in kinds + [k] if o['results'] == 'number' and o in TOOLS]) > 1: continue
        kinds.append(k); tools.append(t); names.add(t['json']['name'])
    return tools


BEFORE = ['', '', '', 'You are a helpful assistant.', 'Use the tools.', 'You are an assistant with tools.', 'You are a helpful assistant with access to tools.']
NONE = 'Sorry, I have no tool for that.'


def conversation(r, want=False, shape=None):
    tools = toolbox(r)
    first = tools[0]
    shown = tools[:]
    r.shuffle(shown)
    m = [('system', tools_text([t['json'] for t in shown], r.choice(BEFORE)))]
    u = shape if shape is not None else r.random()
    if u < .12:      # no tool is needed, because the model knows the answer
        kinds = {o['kind']['results'] for o in tools}
        k = r.choice([k for k in ['greeting', 'colour', 'opposite', 'repeat', 'capital', 'arithmetic'] if not (k == 'arithmetic' and 'number' in kinds or k == 'capital' and 'capital' in kinds)])
        return m + turn(question(r, kind=k))
    if u < .24:      # another tool would be needed
        for _ in range(20):
            other = declared(r, invented(r) if r.random() < .3 else r.choice(TOOLS))
            k = other['kind']
            if all(o['kind'] is not k and o['kind']['results'] != k['results'] for o in tools) and k['results'] not in ('capital', 'number'): break
        else: return m + turn(question(r, kind='greeting'))
        return m + [('user', use(r, other)[0]), ('assistant', NONE)]
    if u < .42:      # two calls at once
        if len(tools) > 1 and r.random() < .4: (q1, c1, v1), (q2, c2, v2), k2 = use(r, first), use(r, tools[1]), tools[1]['kind']; q = join(r, q1, q2)
        else:
            (q1, c1, v1), (_, c2, v2), k2 = use(r, first), use(r, first), first['kind']
            plain = [a for a in first['kind']['asks'] if a.endswith(('?', '.'))] or first['kind']['asks']
            if len(v1) == 1 and r.random() < .7: q = r.choice(plain).format(f'{v1[0]} and {"in " if first["kind"]["results"] in ("weather", "time") and r.random() < .5 else ""}{v2[0]}')
            else: ask = r.choice(plain); q = join(r, ask.format(*v1), ask.format(*v2))
            k = first['args']
            c1, c2 = (c1[0], dict(zip(k, v1))), (c1[0], dict(zip(k, v2)))
        m += [('user', q), ('assistant', call_text([c1, c2]))]
        if r.random() < .5:
            (g1, a1), (g2, a2) = result(r, first['kind'], v1), result(r, k2, v2)
            m += [('user', results_text([g1, g2])), ('assistant', f'{a1} {a2}')]
        return m
    for t in [first] + ([r.choice(tools)] if r.random() < .3 else []):
        q, c, v = use(r, t)
        m += [('user', q), ('assistant', call_text([c]))]
        if r.random() < .65:
            got, a = result(r, t['kind'], v)
            m += [('user', results_text([got])), ('assistant', a)]
        else: break
    if len(m) % 2 and r.random() < .2: m += turn(question(r, kind=r.choice(['greeting', 'colour', 'opposite'])))
    return m


def join(r, one, other):
    return r.choice([f'{one} {other}', f'{one} And {other[0].lower()}{other[1:]}', f'{one.rstrip(".?")} and {other[0].lower()}{other[1:]}', f'{one} {other} Call both tools.'])


def toolless(r, want=False):
    """A question for a tool, without any tool."""
    while True:
        kind = r.choice(TOOLS)
        if kind['results'] not in ('capital', 'number'): return [('user', use(r, declared(r, kind))[0]), ('assistant', UNKNOWN)]


def call(r, want=False): return conversation(r, want, .99)
def both(r, want=False): return conversation(r, want, .3)
def refusal(r, want=False): return conversation(r, want, .2)
def needless(r, want=False): return conversation(r, want, .05)


def after(r, want=False):
    """A result of a tool, with the call before it, and the answer."""
    while True:
        m = conversation(r, want, .99)
        if len(m) >= 5: return m[:5]


def forced(r, want=False):
    """A call that must come although the question does not ask for it: its beginning is not learned, only values and end."""
    v = {}
    kind = r.choice(TOOLS)
    t = declared(r, kind)
    q, (n, args), _ = use(r, t)
    if r.random() < .4: q = question(r, kind=r.choice(['greeting', 'capital', 'repeat']))[1]; args = {k: usual(p) for k, p in t['json']['parameters']['properties'].items() if k in t['args']}
    start = f'<tool_call>\n{{"name": "{n}", "arguments": '
    _, text, spans = json_answer(args, keys=False)
    whole = start + text + '}\n</tool_call>'
    k = len(start)
    return [('system', tools_text([t['json']])), ('user', q), ('assistant', whole, [(a + k, b + k) for a, b in spans] + [(k + len(text), len(whole))])]


def usual(p):
    return {'string': 'unknown', 'integer': 0, 'number': 0, 'boolean': False}.get(p['type'], 'unknown')
