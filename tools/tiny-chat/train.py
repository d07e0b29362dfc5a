"""Trains tiny-chat. Usage: python3 train.py WORK_FOLDER. See README.md."""
import json, os, random, subprocess, sys, time

# One thread for each process. The process keeps its memory: getting it from the system again for each tensor takes
# longer than computing. These variables count only from the start of a process.
STARTED = dict(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1', MALLOC_MMAP_THRESHOLD_='2000000000', MALLOC_TRIM_THRESHOLD_='8000000000', MALLOC_TOP_PAD_='100000000', MALLOC_ARENA_MAX='1')
if any(os.environ.get(k) != v for k, v in STARTED.items()): os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **STARTED})
import torch, torch.distributed as dist, torch.nn.functional as F
import copying
from bpe import Bpe
from corpus import held_out, sample
from network import Network, Shape

SEED, MERGES = 20263, 1277
STEPS = int(os.environ.get('STEPS', 5440))
TOKENS, POOL = 3000, 16                      # tokens of a batch of each process; batches of a pool
MUON, ADAM, PROMPT_SHARE = .015, 2e-3, .12
WORLD, RANK = 2, int(os.environ.get('RANK', '0'))
WORK = sys.argv[1]
torch.set_num_threads(1)


def tokenizer():
    path = os.path.join(WORK, 'bpe.json')
    if not os.path.exists(path):
        r = random.Random(SEED)
        bpe = Bpe.train([f'{x[0]}\n{x[1]}' for _ in range(12000) for x in sample(r, 300)[1]], MERGES)
        json.dump([bpe.vocab, bpe.merges], open(path, 'w'))
    vocab, merges = json.load(open(path))
    return Bpe(vocab, [tuple(m) for m in merges])


def pool(bpe, index, rank):
    """The batches of a part of the training: samples of similar length, about equal numbers of tokens."""
    r = random.Random(f'{SEED} {index} {rank}')
    got, total = [], 0
    while total < TOKENS * POOL:
        n, m, begun = sample(r, index * POOL)
        ids, learned, where = bpe.conversation(m, begun)
        if len(ids) > 2000 or not any(learned): continue
        got.append((ids, learned, where))
        total += len(ids)
    got.sort(key=lambda x: len(x[0]))
    batches, at, done = [], 0, 0
    for k in range(POOL):
        batch = []
        while at < len(got) and (not batch or done < total * (k + 1) / POOL): batch.append(got[at]); done += len(got[at][0]); at += 1
        batches.append(batch)
    batches = [b for b in batches if b]
    while len(batches) < POOL: batches.append(batches[-1])
    order = list(range(POOL))
    random.Random(f'{SEED} {index}').shuffle(order)      # the same on both processes, so that neither waits
    return [batches[i] for i in order], r


def tensors(bpe, batch, r=None):
    L = max(len(x[0]) for x in batch)
    ids, learned, pos = torch.full((len(batch), L), bpe.pad), torch.zeros(len(batch), L), torch.zeros(len(batch), L, dtype=torch.long)
    for j, (a, b, where) in enumerate(batch):
        n = len(a)
        ids[j, :n], learned[j, :n] = torch.tensor(a), torch.tensor(b, dtype=torch.float)
        p = torch.arange(n)
        if r and r.random() < .15:
            # A gap in the positions, as if a long text stood there: far distances without long samples.
            for i in range(1, where[-1] + 1):
                if r.random() < .4: p[where.index(i):] += r.randint(0, max(0, 2000 - int(p[-1])) if r.random() < .5 else 50)
        pos[j, :n] = p.clamp(max=2047)
        if r:
            extra = torch.tensor([float(r.random() < PROMPT_SHARE) for _ in range(n)]) * .25
            learned[j, :n] = torch.maximum(learned[j, :n], extra)
    learned[:, 0] = 0
    return ids, learned, pos


def loss_of(network, ids, learned, pos):
    w = learned[:, 1:].reshape(-1)
    at = w.nonzero().squeeze(1)
    h = network.hidden(ids, pos)[:, :-1].reshape(-1, network.c.hidden)[at]
    logits = h @ network.embedding.t()
    return F.cross_entropy(logits, ids[:, 1:].reshape(-1)[at], reduction='none'), w[at], logits, at


class Muon:
    """Updates each matrix by its gradient with all singular values made one. The processes share the work."""
    def __init__(self, ps): self.ps, self.m = ps, [torch.zeros_like(p) for p in ps]

    def step(self, lr):
        new = [torch.zeros_like(p) for p in self.ps]
        for i, p in enumerate(self.ps):
            self.m[i].mul_(.95).add_(p.grad)
            if i % WORLD != RANK: continue
            x = p.grad + .95 * self.m[i]
            tall = x.shape[0] > x.shape[1]
            if tall: x = x.t()
            x = x / (x.norm() + 1e-7)
            for _ in range(5):
                a = x @ x.t()
                x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
            new[i] = (x.t() if tall else x) * max(1, p.shape[0] / p.shape[1]) ** .5
        flat = torch.cat([n.reshape(-1) for n in new])
        dist.all_reduce(flat)
        k = 0
        for p in self.ps:
            n = p.numel()
            p.data.mul_(1 - lr * .02).add_(flat[k:k + n].view_as(p), alpha=-lr)
            k += n


def evaluated(network, bpe, sets):
    """For each skill, the share of samples whose learned tokens all are the likeliest."""
    out = {}
    with torch.no_grad():
        for n, ms in sets.items():
            got = sorted((x for x in (bpe.conversation(m) for m in ms) if len(x[0]) <= 2040), key=lambda x: len(x[0]))
            good = 0
            for k in range(0, len(got), 16):
                batch = [(a, last_only(b, w), w) for a, b, w in got[k:k + 16]]
                ids, learned, pos = tensors(bpe, batch)
                _, _, logits, at = loss_of(network, ids, learned, pos)
                wrong = logits.argmax(-1) != ids[:, 1:].reshape(-1)[at]
                rows = torch.div(at, ids.shape[1] - 1, rounding_mode='floor')
                good += len(batch) - len(set(rows[wrong].tolist()))
            out[n] = good / len(got)
    return out


def last_only(learned, where):
    """Only the last answer of a conversation counts."""
    last = max(w for w, l in zip(where, learned) if l)
    return [l if w == last else 0 for w, l in zip(where, learned)]


def main():
    os.makedirs(WORK, exist_ok=True)
    if RANK == 0: tokenizer()
    store = os.path.join(WORK, f'store-{os.getpid()}') if RANK == 0 else os.environ['STORE']
    child = None
    if RANK == 0:
        child = subprocess.Popen([sys.executable, os.path.abspath(__file__), WORK], env={**os.environ, 'RANK': '1', 'STORE': store})
    bpe = tokenizer()
    torch.manual_seed(SEED)
    network = Network(Shape(bpe.size))
    copying.seed(network, bpe)
    matrices = [p for n, p in network.named_parameters() if p.dim() == 2 and n != 'embedding']
    others = [p for n, p in network.named_parameters() if p.dim() != 2 or n == 'embedding']
    muon, adam = Muon(matrices), torch.optim.Adam(others, lr=ADAM, betas=(.9, .98))
    step, kept = 0, os.path.join(WORK, 'checkpoint.pt')
    if os.path.exists(kept):
        c = torch.load(kept)
        network.load_state_dict(c['network']); adam.load_state_dict(c['adam']); muon.m, step = c['muon'], c['step']
    dist.init_process_group('gloo', init_method='file://' + store, rank=RANK, world_size=WORLD)
    sets = held_out(32)
    say = lambda t: RANK == 0 and print(t, flush=True)
    say(f'parameters {sum(p.numel() for p in network.parameters())}, vocabulary {bpe.size}, from step {step}')
    began, seen, plist, average = time.time(), 0, list(network.parameters()), None
    while step < STEPS:
        batches, r = pool(bpe, step // POOL, RANK)
        for b in batches:
            if step >= STEPS: break
            rate = max(.01, min(1, (step + 1) / 60, (STEPS - step) / (STEPS - 100)))
            ids, learned, pos = tensors(bpe, b, r)
            ce, w, _, _ = loss_of(network, ids, learned, pos)
            loss = (ce * w).sum() / max(w.sum().item(), TOKENS * .1)
            network.zero_grad(set_to_none=True)
            loss.backward()
            g = torch.cat([p.grad.reshape(-1) for p in plist])
            dist.all_reduce(g)
            g /= WORLD
            k = 0
            for p in plist: n = p.numel(); p.grad.copy_(g[k:k + n].view_as(p)); k += n
            muon.step(MUON * rate)
            for group in adam.param_groups: group['lr'] = ADAM * rate
            adam.step()
            step += 1
            seen += ids.numel() * WORLD
            now = ((ce * (w == 1)).sum() / (w == 1).sum()).item()
            average = now if average is None else .97 * average + .03 * now
            if step % 16 == 0: say(f'step {step} time {time.time() - began:.0f} loss {average:.4f} tokens {seen} rate {rate:.3f}')
            if RANK == 0 and (step % (POOL * 4) == 0 or step == STEPS):
                torch.save(dict(network=network.state_dict(), adam=adam.state_dict(), muon=muon.m, step=step), kept + '.new')
                os.replace(kept + '.new', kept)
            if RANK == 0 and (step % (POOL * 16) == 0 or step == STEPS):
                say('right: ' + ' '.join(f'{n} {v:.2f}' for n, v in evaluated(network, bpe, sets).items()))
    if child: child.wait()


main()
