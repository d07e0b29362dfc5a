"""Judgements of an answer, and long prompts."""
import json
import calls, objects
from basics import question, turn, unknown
from words import *


def judged(r):
    """(question, expected, answer, whether it is right)"""
    u = r.random()
    if u < .6: _, q, a, e = question(r, kind=r.choice(['capital', 'arithmetic', 'colour', 'opposite']))
    else:
        e = r.choice([word(r), phrase(r, 1, 3), str(r.randint(0, 999)), name(r), city(r)])
        q, a = f'What is the {word(r)}?', r.choice([e, f'The answer is {e}.', f'It is {e}.'])
    right = r.random() < .5
    if right: return q, r.choice([e, e, a]), r.choice([a, e, f'It is {e}.', f'{e}.']), True
    while True:
        o = str(r.randint(0, 99)) if e.isdigit() else r.choice([word(r), city(r), r.choice(COLOUR_NAMES)])
        if o not in a and e not in o and o != e: break
    return q, r.choice([e, e, a]), r.choice([a.replace(e, o), o, f'It is {o}.', 'Sorry, I do not know that.']), False


def verdict(r, want=False):
    q, e, a, ok = judged(r)
    body = r.choice([f'Question: {q}\nExpected answer: {e}\nAnswer: {a}', f'Question: {q}\nExpected: {e}\nAnswer: {a}', f'Expected: {e}\nAnswer: {a}', f'Reference: {e}\nSubmission: {a}',
                     f'Question: {q}\nAnswer: {a}\nExpected: {e}', f'Input: {q}\nExpected output: {e}\nOutput: {a}'])
    u = r.random()
    if u < .45: ask, v = r.choice(['Is the answer right? Answer yes or no.', 'Is the answer correct? Reply with yes or no.', 'Does the answer match? yes or no', 'Is it correct? Answer with yes or no.']), 'yes' if ok else 'no'
    elif u < .85: ask, v = r.choice(['Rate the answer from 1 to 5.', 'How good is the answer, from 1 to 5?', 'Score the answer from 1 to 5. Reply with just the number.', 'Give a score from 1 to 5.']), '5' if ok else '1'
    else:
        ask = r.choice(['Judge the answer.', 'Grade the answer.', 'Is the answer right?', 'Evaluate the answer.'])
        d = {}
        why = 'The answer is right.' if ok else 'The answer is wrong.'
        for k in r.sample(['reason', 'pass', 'score', 'verdict'], r.randint(1, 4)):
            if k == 'reason': d[r.choice(['reason', 'explanation', 'reasoning'])] = why
            if k == 'pass': d[r.choice(['pass', 'correct', 'is_correct', 'right'])] = ok
            if k == 'score': d[r.choice(['score', 'rating', 'grade'])] = 5 if ok else 1
            if k == 'verdict': d['verdict'] = 'yes' if ok else 'no'
        return with_system(r, ask, body, objects.answer(d, keys=False))
    return with_system(r, ask, body, ('assistant', v))


def with_system(r, ask, body, a):
    u = r.random()
    if u < .3: return [('system', ask), ('user', body), a]
    if u < .65: return [('user', f'{ask}\n{body}'), a]
    return [('user', f'{body}\n{ask}'), a]


GRADING = ('You are grading output according to a user-specified rubric. If the statement in the rubric is true, then the output passes the test. '
           'You respond with a JSON object with this structure: {reason: string, pass: boolean, score: number}')
EXAMPLES = ('\n\nExamples:\n\n<Output>Hello world</Output>\n<Rubric>Content contains a greeting</Rubric>\n{"reason": "the content contains the word \'Hello\'", "pass": true, "score": 1.0}\n\n'
            '<Output>Avast ye swabs, repel the invaders!</Output>\n<Rubric>Does not speak like a pirate</Rubric>\n{"reason": "\'avast ye\' is a common pirate term", "pass": false, "score": 0.0}')


def rubric(r, want=False):
    """A rubric of one statement about a text, as llm-rubric of promptfoo asks."""
    _, _, a, e = question(r, kind=r.choice(['capital', 'arithmetic', 'colour', 'opposite', 'greeting', 'repeat']))
    out = r.choice([a, a, phrase(r, 2, 6)])
    ok = r.random() < .5
    tokens = [t.strip('.,!?=') for t in out.split() if t.strip('.,!?=')]
    w = r.choice(tokens)
    if not ok:
        while w.lower() in out.lower(): w = r.choice([word(r), city(r), str(r.randint(0, 99))])
    says = r.choice(['contains {}', 'mentions {}', 'The output contains the word {}', 'The answer is {}', 'The answer names {}', 'Says {}', 'contains the word {}', 'Mentions {}', 'Is about {}'])
    reason = f'the output contains {w}' if ok else f'the output does not contain {w}'
    if r.random() < .15:
        says = r.choice(['does not mention {}', 'does not contain {}', 'Does not contain the word {}'])
        ok = not ok
    v = {'reason': reason, 'pass': ok, 'score': 1.0 if ok else 0.0}
    head = GRADING + (EXAMPLES if r.random() < .25 else '') if r.random() < .7 else 'You grade an output by a rubric. Answer in JSON with reason, pass and score.'
    return [('system', head), ('user', f'<Output>\n{out}\n</Output>\n<Rubric>\n{says.format(w)}\n</Rubric>'), objects.answer(v)]


def filler(r, least, most):
    """Long plain text: instructions and lists of words."""
    out, n = [], r.randint(least, most)
    while sum(map(len, out)) < n:
        out.append(r.choice(SENTENCES).rstrip('.') + '.' if r.random() < .7 else f'The {phrase(r, 1, 2)} is {r.choice(ADJECTIVES)}.')
        if r.random() < .12: out.append('\n' + r.choice(['#', '##', '-', '*']) + ' ' + phrase(r, 1, 3) + '\n')
    return ' '.join(out)


def long(r, want=False, most=6000):
    """A short task after, or inside, a long prompt."""
    text = filler(r, 300, r.choice([700, 1200, 2500, most]))
    u = r.random()
    if u < .3: return [('system', text)] + turn(question(r))
    if u < .45:
        m = calls.conversation(r)
        return [('system', text + '\n\n' + m[0][1])] + m[1:]
    if u < .6:
        w, thing = word(r), r.choice(['secret word', 'code word', 'password', 'key'])
        at = text.find('. ', r.randint(0, len(text))) + 2
        text = f'{text[:at]}The {thing} is {w}. {text[at:]}' if at > 1 else f'{text} The {thing} is {w}.'
        return [r.choice([('system', text), ('user', text)])] + ([] if False else [('user', f'What is the {thing}?'), ('assistant', f'The {thing} is {w}.')])
    if u < .75:
        m = objects.extraction(r)
        return [('system', text)] + [x for x in m if x[0] != 'system']
    if u < .9:
        m = []
        for _ in range(r.randint(6, 25)): m += turn(question(r, kind=r.choice(['capital', 'arithmetic', 'colour', 'repeat', 'greeting'])))
        return m
    t = r.choice([f'Text: {text}\n\nQuestion: {question(r)[1]}', text])
    return [('user', t), ('assistant', 'Sorry, I do not know that.')]
