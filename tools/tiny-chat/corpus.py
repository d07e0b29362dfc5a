"""The mixture of all kinds of samples, and the step from which on the training reads them."""
import random
import basics, calls, choices, judging, objects

# name: maker, share of the samples, and the first step of the training that reads it.
SKILLS = dict(
    sums=(lambda r: basics.plain(r, kind='arithmetic'), 14, 0),
    plain=(basics.plain, 20, 0), short=(basics.short, 6, 0), ruled=(basics.ruled, 4, 0), memory=(basics.memory, 7, 0), last=(basics.last, 3, 0),
    extraction=(objects.extraction, 14, 0), invented=(objects.invented, 6, 0), factual=(objects.factual, 5, 0), triage=(choices.triage, 5, 0),
    array=(choices.array, 5, 0), tools=(calls.conversation, 17, 64), forced=(calls.forced, 2, 64), verdict=(judging.verdict, 8, 64),
    rubric=(judging.rubric, 5, 64), long=(judging.long, 1.2, 256),
    # The sums and the refusals come last: more of them once the rest is known.
    more_sums=(lambda r: basics.plain(r, kind='arithmetic'), 12, 1344), refused=(calls.refusal, 7, 1344),
    # The end of the training: system prompts of any kind, words that stand in a text twice, and what it cannot know.
    varied=(basics.varied, 18, 4800), repeated=(basics.repeated, 5, 4800), toolless=(calls.toolless, 4, 4800))


def changed(r, m):
    """Small differences in how people write."""
    out = list(m)
    for i, x in enumerate(out):
        if x[0] != 'user' or '\n' in x[1] or len(x[1]) < 3: continue
        t, u = x[1], r.random()
        if u < .02: t += ' '
        elif u < .05 and t[-1] in '?.': t = t[:-1]
        elif u < .08: t = t[0].lower() + t[1:]
        out[i] = (x[0], t)
    if r.random() < .02:
        at = [i for i, x in enumerate(out[:-1]) if x[0] == 'assistant']
        if at: i = r.choice(at); out[i] = ('assistant', f'<think>\n{basics.phrase(r, 1, 6)}\n</think>\n\n{out[i][1]}', [])
    return out


def sample(r, step):
    """(skill, messages, how many letters of the last message are given)"""
    names = [n for n, (_, _, since) in SKILLS.items() if since <= step]
    n = r.choices(names, [SKILLS[k][1] for k in names])[0]
    m = SKILLS[n][0](r)
    if n != 'last': m = changed(r, m)
    last = m[-1]
    begun = r.randint(1, len(last[1])) if len(last) == 2 and n != 'tools' and len(last[1]) > 1 and r.random() < .06 else 0
    return n, m, begun


def held_out(each):
    """Samples for the evaluation: for each skill, some that the training does not contain."""
    r, out = random.Random(7), {}
    for kind in basics.KINDS:
        if kind not in ('greeting', 'unknown'): out[kind] = [basics.plain(r, True, kind) for _ in range(each)]
    out['known_sum'] = [basics.plain(r, False, 'arithmetic') for _ in range(each)]
    for n, make in dict(short=basics.short, ruled=basics.ruled, memory=basics.memory, last=basics.last, extraction=objects.extraction, invented=objects.invented,
                        factual=objects.factual, triage=choices.triage, array=choices.array, call=calls.call, two_calls=calls.both, no_tool=calls.refusal,
                        no_need=calls.needless, after_call=calls.after, forced=calls.forced, verdict=judging.verdict, rubric=judging.rubric, long=judging.long,
                        varied=basics.varied, repeated=basics.repeated, toolless=calls.toolless).items():
        out[n] = [make(r, True) for _ in range(each if n != 'long' else each // 3)]
    return out
