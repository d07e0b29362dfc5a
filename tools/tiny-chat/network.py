"""The network: a small decoder like Qwen2 (RMSNorm, rotary positions, grouped queries, SwiGLU, tied embeddings)."""
import math
import torch, torch.nn as nn, torch.nn.functional as F


class Shape:
    def __init__(self, vocab, hidden=160, layers=4, heads=4, kv_heads=2, inner=416, context=2048, theta=10000.0, eps=1e-6):
        self.vocab, self.hidden, self.layers, self.heads, self.kv_heads = vocab, hidden, layers, heads, kv_heads
        self.inner, self.context, self.theta, self.eps = inner, context, theta, eps
        self.head = hidden // heads


class Norm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps
    def forward(self, x): return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def half_turned(x):
    h = x.shape[-1] // 2
    return torch.cat((-x[..., h:], x[..., :h]), -1)


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, d = c, c.head
        self.n1, self.n2 = Norm(c.hidden, c.eps), Norm(c.hidden, c.eps)
        linear = lambda a, b: nn.Linear(a, b, bias=False)
        self.q, self.k, self.v = linear(c.hidden, c.heads * d), linear(c.hidden, c.kv_heads * d), linear(c.hidden, c.kv_heads * d)
        self.o, self.gate, self.up, self.down = linear(c.heads * d, c.hidden), linear(c.hidden, c.inner), linear(c.hidden, c.inner), linear(c.inner, c.hidden)
        self.bias = nn.Parameter(torch.zeros((c.heads + 2 * c.kv_heads) * d))
        self.fused = None

    def fuse(self):
        """Makes one matrix of those that have the same input: fewer steps in the exported file."""
        joined = [(self.q, self.k, self.v), (self.gate, self.up), (self.o,), (self.down,)]
        self.fused = nn.ParameterList([nn.Parameter(torch.cat([m.weight for m in ms]).detach().t().contiguous()) for ms in joined])

    def forward(self, x, cos, sin, mask, past=None):
        c, d, B, S = self.c, self.c.head, x.shape[0], x.shape[1]
        qn, kn, rep = c.heads * d, c.kv_heads * d, c.heads // c.kv_heads
        h = self.n1(x)
        if self.fused: a = torch.matmul(h, self.fused[0]) + self.bias
        else: a = F.linear(h, torch.cat((self.q.weight, self.k.weight, self.v.weight)), self.bias)
        n = c.heads + c.kv_heads
        qk = a[..., :qn + kn].view(B, S, n, d).transpose(1, 2)
        qk = qk * cos + half_turned(qk) * sin
        q, k = qk[:, :c.heads], qk[:, c.heads:]
        v = a[..., qn + kn:].view(B, S, c.kv_heads, d).transpose(1, 2)
        if past is not None: k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        # The queries of a group stand below each other, so that one product serves them all.
        if past is None:
            q = q.reshape(B, c.kv_heads, rep, S, d)
            w = torch.matmul(q, (k * (1 / math.sqrt(d))).transpose(2, 3).unsqueeze(2)) + mask
            y = torch.matmul(torch.softmax(w, -1), v.unsqueeze(2)).reshape(B, c.heads, S, d)
        else:
            T = k.shape[2]
            kk = k.unsqueeze(2).expand(B, c.kv_heads, rep, T, d).reshape(B, c.heads, T, d)
            vv = v.unsqueeze(2).expand(B, c.kv_heads, rep, T, d).reshape(B, c.heads, T, d)
            w = torch.matmul(q, kk.transpose(2, 3)) * (1 / math.sqrt(d)) + mask
            y = torch.matmul(torch.softmax(w, -1), vv)
        y = y.transpose(1, 2).reshape(B, S, qn)
        if self.fused:
            x = x + torch.matmul(y, self.fused[2])
            g = torch.matmul(self.n2(x), self.fused[1])
            return x + torch.matmul(F.silu(g[..., :c.inner]) * g[..., c.inner:], self.fused[3]), (k, v)
        x = x + self.o(y)
        h = self.n2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h)), (k, v)


class Network(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embedding = nn.Parameter(torch.randn(c.vocab, c.hidden) * 0.02)
        self.layers = nn.ModuleList([Layer(c) for _ in range(c.layers)])
        self.norm = Norm(c.hidden, c.eps)
        self.register_buffer('speeds', 1 / (c.theta ** (torch.arange(0, c.head, 2).float() / c.head)), persistent=False)
        for n, p in self.named_parameters():
            if p.dim() == 2 and n != 'embedding':
                last = n.endswith(('o.weight', 'down.weight'))
                nn.init.normal_(p, std=0.03 / math.sqrt(2 * c.layers) if last else 0.06)

    def look_back(self):
        """
        Lets two heads of the first layer look at the token before and at the one before that, wherever they are. Copying
        needs this, and the training does not find it for a long time. Further training may change it.
        """
        c, first, some = self.c, self.layers[0], 8
        d, h = c.head, c.head // 2
        with torch.no_grad():
            first.q.weight[:2 * d] *= .1
            first.k.weight[:d] *= .1
            q, k = first.bias[:2 * d].view(2, d), first.bias[c.heads * d:][:d]
            q.zero_(); k.zero_()
            k[:some] = 5.3
            for head in (0, 1):
                angle = -(head + 1) * self.speeds[:some]
                q[head, :some], q[head, h:h + some] = 5.3 * angle.cos(), 5.3 * angle.sin()

    def turns(self, positions):
        f = positions.unsqueeze(-1).to(torch.float32) * self.speeds
        f = torch.cat((f, f), -1).unsqueeze(1)
        return f.cos(), f.sin()

    def hidden(self, ids, positions):
        """For the training: whole sequences, padded on the right. No token sees the padding behind it."""
        S = ids.shape[1]
        x, (cos, sin) = F.embedding(ids, self.embedding), self.turns(positions)
        mask = torch.full((S, S), -3.0e38).triu(1)
        for layer in self.layers: x, _ = layer(x, cos, sin, mask)
        return self.norm(x)

    def forward(self, ids, mask01, positions, past):
        """For the export: `mask01` marks the real tokens, `past` has keys and values of earlier ones."""
        x, (cos, sin) = F.embedding(ids, self.embedding), self.turns(positions)
        S, T = ids.shape[1], mask01.shape[1]
        seen = torch.arange(T).unsqueeze(0) <= torch.arange(S).unsqueeze(1) + (T - S)
        mask = torch.where(seen & (mask01 > 0).unsqueeze(1).unsqueeze(1), torch.tensor(0.0), torch.tensor(-3.0e38))
        new = []
        for layer, kv in zip(self.layers, past): x, one = layer(x, cos, sin, mask, kv); new.append(one)
        return torch.matmul(self.norm(x), self.embedding.t()), new


class Export(nn.Module):
    def __init__(self, network): super().__init__(); self.network = network
    def forward(self, ids, mask01, positions, *kv):
        logits, new = self.network(ids, mask01, positions, list(zip(kv[::2], kv[1::2])))
        return (logits, *[t for pair in new for t in pair])


def export(network, path):
    """Writes the ONNX file, with the names that Hugging Face's exports have."""
    c, B, S, P = network.c, 2, 3, 5
    for layer in network.layers: layer.fuse()
    args = [torch.ones(B, S, dtype=torch.long), torch.ones(B, P + S, dtype=torch.long), torch.arange(P, P + S).repeat(B, 1)]
    inputs, outputs = ['input_ids', 'attention_mask', 'position_ids'], ['logits']
    both = 'past_sequence_length + sequence_length'
    axes = {n: {0: 'batch_size', 1: 'sequence_length'} for n in ('input_ids', 'position_ids', 'logits')}
    axes['attention_mask'] = {0: 'batch_size', 1: both}
    for i in range(c.layers):
        for kv in ('key', 'value'):
            a, b = f'past_key_values.{i}.{kv}', f'present.{i}.{kv}'
            args.append(torch.zeros(B, c.kv_heads, P, c.head)); inputs.append(a); outputs.append(b)
            axes[a], axes[b] = {0: 'batch_size', 2: 'past_sequence_length'}, {0: 'batch_size', 2: both}
    network.eval()
    with torch.no_grad():
        torch.onnx.export(Export(network), tuple(args), path, input_names=inputs, output_names=outputs, dynamic_axes=axes,
                          opset_version=14, do_constant_folding=False)
    for layer in network.layers: layer.fused = None
