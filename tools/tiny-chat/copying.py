"""
Gives the network a pair of attention heads that copy: the first tells each token which token stands before it, the second
finds the place where the current token stood before, and reads the token that followed it. All that the network learns
later needs this, and the training alone does not find it for very long. Further training may change these heads.
"""
import random
import torch
from corpus import sample

# Dimensions of the comparison of two tokens, which turn slowly with the distance; how sharp it is; how much it writes.
DIMENSIONS, SCALE, WRITE = 16, 1.75, 4


def data(bpe, seed, n=80):
    r, out = random.Random(seed), []
    while len(out) < n:
        _, m, _ = sample(r, 300)
        ids, learned, _ = bpe.conversation(m)
        if len(ids) < 300: out.append((ids, learned))
    return out


def inputs(network, samples, layer):
    """The normed inputs of a layer for all tokens, with the token and the one before it."""
    rows, tokens, before, size = [], [], [], []
    for ids, _ in samples:
        t = torch.tensor([ids])
        x, (cos, sin) = network.embedding[t], network.turns(torch.arange(len(ids)).unsqueeze(0))
        mask = torch.full((len(ids), len(ids)), -3.0e38).triu(1)
        for one in network.layers[:layer]: x, _ = one(x, cos, sin, mask)
        rows.append(network.layers[layer].n1(x)[0, 1:])
        size.append(x.pow(2).mean().sqrt())
        tokens += ids[1:]
        before += ids[:-1]
    return torch.cat(rows), torch.tensor(tokens), torch.tensor(before), sum(size) / len(size)


def fitted(x, y):
    """The linear map from x to y with the least squares: weights and bias."""
    one = torch.cat((x, torch.ones(len(x), 1)), 1)
    w = torch.linalg.solve(one.t() @ one + .01 * len(x) * torch.eye(one.shape[1]) * one.pow(2).mean(), one.t() @ y)
    return w[:-1].t(), w[-1]


def alike(network, bpe):
    """Begins with similar vectors for tokens with the same letters, such as `Blue`, `blue` and ` blue`."""
    own = network.embedding / network.embedding.std()
    groups = {}
    for token, i in bpe.vocab.items(): groups.setdefault(token.replace('Ġ', '').lower() or token, []).append(i)
    for same in groups.values():
        common = own[same].sum(0) / len(same) ** .5
        for i in same: network.embedding[i] = .1 * (.8 * common + .6 * own[i]) if len(same) > 1 else .1 * own[i]
    network.embedding[len(bpe.vocab):] = .1 * own[len(bpe.vocab):]


def seed(network, bpe):
    c, d = network.c, network.c.head
    some, (first, second) = DIMENSIONS // 2, network.layers[:2]
    slow = list(range(d // 2 - some, d // 2)) + list(range(d - some, d))
    with torch.no_grad():
        alike(network, bpe)
        network.look_back()
        samples = data(bpe, 'copying')
        # A token as a few numbers, each with the same variance.
        y = first.n1(network.embedding)
        mean = y.mean(0)
        values, vectors = torch.linalg.eigh((y - mean).t() @ (y - mean) / len(y))
        compress = vectors[:, -DIMENSIONS:].t() / values[-DIMENSIONS:].sqrt().unsqueeze(1)
        code = (y - mean) @ compress.t()
        # The first head writes the code of the token before into directions that the network uses least.
        x, _, _, scale = inputs(network, samples, 1)
        _, v = torch.linalg.eigh(x.t() @ x / len(x))
        first.v.weight[:DIMENSIONS] = compress
        first.bias[(c.heads + c.kv_heads) * d:][:DIMENSIONS] = -compress @ mean
        first.o.weight[:, :DIMENSIONS] = v[:, :DIMENSIONS] * scale
        first.o.weight[:, d:d + DIMENSIONS] = 0
        # The second compares its own token with those codes.
        x, token, before, _ = inputs(network, samples, 1)
        (q, qb), (k, kb) = fitted(x, code[token]), fitted(x, code[before])
        head, kv = 2, 1
        second.q.weight[head * d:(head + 1) * d] = 0
        second.k.weight[kv * d:(kv + 1) * d] = 0
        bias_q, bias_k = second.bias[head * d:][:d], second.bias[(c.heads + kv) * d:][:d]
        for i, at in enumerate(slow):
            second.q.weight[head * d + at], bias_q[at] = q[i] * SCALE, qb[i] * SCALE
            second.k.weight[kv * d + at], bias_k[at] = k[i] * SCALE, kb[i] * SCALE
        # It reads the token there, and writes it where the end of the network finds it.
        e = network.embedding - network.embedding.mean(0)
        u = torch.linalg.eigh(e.t() @ e)[1][:, -d:]
        w, b = fitted(x, network.embedding[token] @ u)
        second.v.weight[kv * d:] = w
        second.bias[(c.heads + c.kv_heads + kv) * d:] = b
        second.o.weight[:, head * d:(head + 1) * d] = u * WRITE
