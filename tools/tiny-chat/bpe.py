"""A byte-level BPE tokenizer: training, encoding, and the text of a conversation."""
import re
from collections import Counter, defaultdict

SPECIAL = ['<|endoftext|>', '<|im_start|>', '<|im_end|>']
# The pattern in tokenizer.json (that of Qwen2, so each digit is a token), and the same for Python and ASCII letters.
PATTERN = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
ASCII = re.compile(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\nA-Za-z0-9]?[A-Za-z]+|[0-9]| ?[^\sA-Za-z0-9]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def byte_letters():
    visible = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    letters, n = dict(zip(visible, map(chr, visible))), 0
    for b in range(256):
        if b not in letters: letters[b] = chr(256 + n); n += 1
    return letters


LETTERS = byte_letters()


def pieces(text): return [''.join(LETTERS[b] for b in w.encode()) for w in ASCII.findall(text)]


class Bpe:
    def __init__(self, vocab, merges):
        self.vocab, self.merges, self.cache = vocab, merges, {}
        self.rank = {m: i for i, m in enumerate(merges)}
        self.end = len(vocab) + SPECIAL.index('<|im_end|>')
        self.start = len(vocab) + SPECIAL.index('<|im_start|>')
        self.pad = len(vocab)
        self.size = len(vocab) + len(SPECIAL)

    @staticmethod
    def train(texts, merges):
        """Merges the most frequent pair, again and again. Ties go to the pair that is first by its letters."""
        counts = Counter()
        for t in texts: counts.update(pieces(t))
        words = [(list(w), f) for w, f in counts.items() if f > 1]
        pairs, where = Counter(), defaultdict(set)
        for i, (w, f) in enumerate(words):
            for p in zip(w, w[1:]): pairs[p] += f; where[p].add(i)
        done = []
        for _ in range(merges):
            best = min(pairs.items(), key=lambda kv: (-kv[1], kv[0]))[0]
            done.append(best)
            for i in list(where[best]):
                w, f = words[i]
                for p in zip(w, w[1:]): pairs[p] -= f; where[p].discard(i)
                k = 0
                while k < len(w) - 1:
                    if (w[k], w[k + 1]) == best: w[k:k + 2] = [w[k] + w[k + 1]]
                    else: k += 1
                for p in zip(w, w[1:]): pairs[p] += f; where[p].add(i)
            pairs = Counter({p: n for p, n in pairs.items() if n > 0})
        vocab = {}
        for c in sorted(LETTERS.values()): vocab[c] = len(vocab)
        for a, b in done: vocab.setdefault(a + b, len(vocab))
        return Bpe(vocab, done)

    def word(self, w):
        """The tokens of a piece, each with its number of bytes."""
        r = self.cache.get(w)
        if r is None:
            p = list(w)
            while len(p) > 1:
                i = min(range(len(p) - 1), key=lambda i: self.rank.get((p[i], p[i + 1]), 1 << 30))
                if (p[i], p[i + 1]) not in self.rank: break
                p[i:i + 2] = [p[i] + p[i + 1]]
            r = self.cache[w] = [(self.vocab[x], len(x)) for x in p]
        return r

    def tokens(self, text): return [t for w in pieces(text) for t in self.word(w)]
    def encode(self, text): return [t for t, _ in self.tokens(text)]

    def message(self, role, text, spans=None, begun=0):
        """The tokens of a message, and which of them are learned. The first `begun` letters are given, not learned."""
        ids, learned = [self.start] + self.encode(f'{role}\n'), []
        learned = [0] * len(ids)
        mask = None
        if role == 'assistant':
            mask = bytearray()
            at = 0
            for a, b in spans if spans is not None else [(begun, len(text))]:
                mask += bytes(len(text[at:a].encode())) if a > at else b''
                a = max(a, at)
                mask += b'\1' * len(text[a:b].encode())
                at = max(at, b)
            mask += bytes(len(text[at:].encode()))
        k = 0
        for part in (text[:begun], text[begun:]):
            for t, n in self.tokens(part):
                ids.append(t)
                learned.append(int(mask is not None and any(mask[k:k + n])))
                k += n
        return ids + [self.end] + self.encode('\n'), learned + [int(mask is not None), 0]

    def conversation(self, messages, begun=0):
        """As `message`, for all messages; also the number of the message of each token."""
        ids, learned, part = [], [], []
        for i, m in enumerate(messages):
            a, b = self.message(*m, **({'begun': begun} if begun and i == len(messages) - 1 else {}))
            ids += a; learned += b; part += [i] * len(a)
        return ids, learned, part
