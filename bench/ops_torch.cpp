#include "bench/ops_torch.hpp"

#include <cstdlib>

namespace taskspec::bench {

namespace {

// Reads one request per line and answers with one line.
constexpr const char* script = R"(
import sys, time
try:
    import torch
except Exception:
    print("none", flush=True)
    sys.exit(0)
torch.set_num_threads(1)
torch.set_grad_enabled(False)
print(torch.__version__, flush=True)
names = {}
for line in sys.stdin:
    what, _, rest = line.rstrip("\n").partition("\t")
    try:
        if what == "inputs":
            names = {"torch": torch}
            for i, item in enumerate(filter(None, rest.split(";"))):
                kind, _, extents = item.partition(":")
                shape = [int(n) for n in extents.split(",") if n]
                if kind == "f32":
                    names["x%d" % i] = torch.rand(shape) * 0.9 + 0.1
                elif kind == "bool":
                    names["x%d" % i] = torch.randint(0, 2, shape).to(torch.bool)
                else:
                    kinds = {"i8": torch.int8, "i32": torch.int32, "i64": torch.int64}
                    names["x%d" % i] = torch.randint(0, 100, shape).to(kinds[kind])
            print("ok", flush=True)
        else:
            count, _, expression = rest.partition("\t")
            code = compile(expression, "peer", "eval")
            begin = time.perf_counter()
            for _ in range(int(count)):
                eval(code, names)
            print((time.perf_counter() - begin) / int(count), flush=True)
    except Exception as wrong:
        print("failed", str(wrong).replace("\n", " ")[:100], flush=True)
)";

}  // namespace

Torch::Torch() : python_(script) {}

void Torch::set_inputs(std::span<const ArrayType> types) {
  std::string line = "inputs\t";
  for (const ArrayType& type : types) {
    line += std::string(info(type.precision).name) + ":";
    for (std::int64_t extent : type.extents) line += std::to_string(extent) + ",";
    line += ";";
  }
  if (there()) python_.ask(line);
}

std::optional<double> Torch::seconds(const std::string& expression, int count) {
  if (!there() || expression.empty()) return std::nullopt;
  std::string answer = python_.ask("time\t" + std::to_string(count) + "\t" + expression);
  char* end = nullptr;
  double seconds = std::strtod(answer.c_str(), &end);
  return end == answer.c_str() ? std::nullopt : std::optional(seconds);
}

}  // namespace taskspec::bench
