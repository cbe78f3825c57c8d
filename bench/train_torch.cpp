#include "bench/train_torch.hpp"

#include <sstream>

namespace taskspec::bench {

namespace {

// Reads one request per line and answers with one line. As fast as it goes: the gradients of the last step are dropped
// and not zeroed, memory is kept from step to step, and images lie channels first or last, whichever is faster here.
constexpr const char* script = R"(
import ctypes, gc, os, re, sys, time
try:
    import torch
    import torch.nn as nn, torch.nn.functional as F
except Exception:
    print("none", flush=True)
    sys.exit(0)

def libraries(names):
    with open("/proc/self/maps") as maps:
        paths = sorted({line.split()[-1] for line in maps if "/" in line})
    return [path for path in paths if re.match(names, os.path.basename(path))]

def blas():
    known = r"lib(openblas|blis|mkl)[^0-9]*([0-9.]*[0-9])?"
    for path in libraries(known):
        return " ".join(filter(None, re.match(known, os.path.basename(path)).groups()))
    return "reference BLAS"

# OpenBLAS has threads of its own, of which PyTorch knows nothing.
def set_threads(count):
    torch.set_num_threads(count)
    for path in libraries("libopenblas"):
        ctypes.CDLL(path).openblas_set_num_threads(count)

# What one step gives back the next one takes again: not from the system, page by page.
LIBC = ctypes.CDLL(None)
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LIBC.mallopt(M_MMAP_THRESHOLD, 1 << 30)
LIBC.mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)

def halved(x):
    return F.max_pool2d(F.relu(x), 2)

class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.f1, self.f2, self.f3 = nn.Linear(256, 120), nn.Linear(120, 84), nn.Linear(84, 10)
    def forward(self, x):
        x = halved(self.c2(halved(self.c1(x)))).flatten(1)
        return self.f3(F.relu(self.f2(F.relu(self.f1(x)))))

class Block(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.c1, self.n1 = nn.Conv2d(i, o, 3, stride, 1), nn.BatchNorm2d(o)
        self.c2, self.n2 = nn.Conv2d(o, o, 3, 1, 1), nn.BatchNorm2d(o)
        self.stride, self.wider = stride, (o - i) // 2
    def forward(self, x):
        y = self.n2(self.c2(F.relu(self.n1(self.c1(x)))))
        if self.wider:
            x = F.pad(x[:, :, ::self.stride, ::self.stride], (0, 0, 0, 0, self.wider, self.wider))
        return F.relu(y + x)

class ResNet20(nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.n, self.f = nn.Conv2d(3, 16, 3, 1, 1), nn.BatchNorm2d(16), nn.Linear(64, 10)
        sizes = [(16, 16, 1)] * 3 + [(16, 32, 2)] + [(32, 32, 1)] * 2 + [(32, 64, 2)] + [(64, 64, 1)] * 2
        self.blocks = nn.Sequential(*[Block(*size) for size in sizes])
    def forward(self, x):
        return self.f(self.blocks(F.relu(self.n(self.c(x)))).mean((2, 3)))

class Transformer(nn.Module):
    def __init__(self, heads=4, size=32, hidden=512):
        super().__init__()
        n = heads * size
        self.heads, self.size = heads, size
        self.norm1, self.norm2 = nn.LayerNorm(n), nn.LayerNorm(n)
        self.q, self.k, self.v, self.o = (nn.Linear(n, n, bias=False) for _ in range(4))
        self.up, self.down = nn.Linear(n, hidden), nn.Linear(hidden, n)
    def forward(self, x):
        b, t, n = x.shape
        a = self.norm1(x)
        q, k, v = (w(a).view(b, t, self.heads, self.size).transpose(1, 2) for w in (self.q, self.k, self.v))
        found = (q @ k.transpose(2, 3) / self.size ** 0.5).softmax(-1) @ v
        x = x + self.o(found.transpose(1, 2).reshape(b, t, n))
        return x + self.down(F.gelu(self.up(self.norm2(x))))

NETS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10)), (64, 784)),
    "lenet": (LeNet, (64, 1, 28, 28)),
    "resnet-20": (ResNet20, (32, 3, 32, 32)),
    "transformer block": (Transformer, (8, 64, 128)),
}

def step_of(name, images_last):
    make, shape = NETS[name]
    net, x = make(), torch.randn(shape)
    if images_last:
        net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    rows = len(shape) == 3
    t, loss = (torch.randn(shape), F.mse_loss) if rows else (torch.randint(0, 10, shape[:1]), F.cross_entropy)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    def step():
        optimizer.zero_grad(set_to_none=True)
        loss(net(x), t).backward()
        optimizer.step()
    return step

def least(step):
    step()
    times = []
    for _ in range(5):
        begin = time.process_time()
        step()
        times.append(time.process_time() - begin)
    return min(times)

def resident(what):
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith(what))

print("PyTorch %s with %s" % (torch.__version__, blas()), flush=True)
step, idle = None, 0
for line in sys.stdin:
    what, *rest = line.rstrip("\n").split("\t")
    if what == "net":
        set_threads(int(rest[1]))
        idle = resident("VmRSS")
        is_image = len(NETS[rest[0]][1]) == 4
        last = is_image and least(step_of(rest[0], True)) < least(step_of(rest[0], False))
        gc.collect()
        LIBC.malloc_trim(0)
        with open("/proc/self/clear_refs", "w") as peak:
            peak.write("5")
        step = step_of(rest[0], last)
        print("ok", flush=True)
    elif what == "steps":
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(int(rest[0])):
            step()
        print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)
    else:
        print(resident("VmHWM") - idle, flush=True)
)";

}  // namespace

TorchTraining::TorchTraining(const std::string& net, int threads) : python_(script) {
  if (there()) python_.ask("net\t" + net + "\t" + std::to_string(threads));
}

std::optional<Sample> TorchTraining::steps(int count) {
  if (!there()) return std::nullopt;
  Sample sample;
  std::istringstream answer(python_.ask("steps\t" + std::to_string(count)));
  return answer >> sample.wall >> sample.cpu ? std::optional(sample) : std::nullopt;
}

double TorchTraining::peak_bytes() {
  double bytes = 0;
  if (there()) std::istringstream(python_.ask("peak")) >> bytes;
  return bytes;
}

}  // namespace taskspec::bench
