#include "bench/train_nets.hpp"

namespace taskspec::bench {

namespace {

constexpr double mlp_first = 784 * 512, mlp_last = 512 * 10;

constexpr const char* mlp = R"(
agent Mlp() {
  layer first = nn.Linear(784, 512, act: "relu", seed: 1)
  layer last = nn.Linear(512, 10, seed: 2)
  graph forward(x: f32[B, 784]) -> (y: f32[B, 10]) { y = last.forward(first.forward(x).y).y }
}
let m = train(Mlp(), loss: "sparse_categorical_crossentropy", optimizer: sgd(lr: 0.01, momentum: 0.9), parts: parts)
let x = normal(f32[64, 784], seed: 1)
let t = (uniform(f32[64], seed: 2) * 10.0).floor() as i64[64]
)";

constexpr double lenet_first = 6 * 24 * 24 * 25, lenet_rest = 16 * 8 * 8 * 150 + 256 * 120 + 120 * 84 + 84 * 10;

constexpr const char* lenet = R"(
agent LeNet() {
  layer c1 = nn.Conv2D(1, 6, 5, seed: 1)
  layer c2 = nn.Conv2D(6, 16, 5, seed: 2)
  layer f1 = nn.Linear(256, 120, act: "relu", seed: 3)
  layer f2 = nn.Linear(120, 84, act: "relu", seed: 4)
  layer f3 = nn.Linear(84, 10, seed: 5)
  task halved(in x: f32[B, C, H, W], h: int = H / 2, w: int = W / 2) -> (y: f32[B, C, h, w]) { y = relu(x).max_pool(2) }
  task flat(in x: f32[B, 16, 4, 4]) -> (y: f32[B, 256]) { y = x.reshape(B, 256) }
  graph forward(x: f32[B, 1, 28, 28]) -> (y: f32[B, 10]) {
    let a = halved(c2.forward(halved(c1.forward(x).y).y).y).y
    y = f3.forward(f2.forward(f1.forward(flat(a).y).y).y).y
  }
}
let m = train(LeNet(), loss: "sparse_categorical_crossentropy", optimizer: sgd(lr: 0.01, momentum: 0.9), parts: parts)
let x = normal(f32[64, 1, 28, 28], seed: 1)
let t = (uniform(f32[64], seed: 2) * 10.0).floor() as i64[64]
)";

constexpr double resnet_first = 16 * 1024 * 27, resnet_even = 16 * 1024 * 144,
                 resnet_rest = 16 * resnet_even + 2 * resnet_even / 2 + 64 * 10;

constexpr const char* resnet = R"(
task rectified(in x: f32[B, C, H, W]) -> (y: f32[B, C, H, W]) { y = relu(x) }
task joined(in x: f32[B, C, H, W], in y: f32[B, C, H, W]) -> (z: f32[B, C, H, W]) { z = relu(y + x) }
agent Block(n: int, seed: int) {
  layer c1 = nn.Conv2D(n, n, 3, pad: 1, seed: seed)
  layer n1 = nn.BatchNorm(n)
  layer c2 = nn.Conv2D(n, n, 3, pad: 1, seed: seed)
  layer n2 = nn.BatchNorm(n)
  graph forward(x: f32[B, n, H, W]) -> (z: f32[B, n, H, W]) {
    z = joined(x, n2.images(c2.forward(rectified(n1.images(c1.forward(x).y).y).y).y).y).z
  }
}
// Half the sides, twice the channels.
agent Stage(n: int, seed: int) {
  layer c1 = nn.Conv2D(n, 2 * n, 3, pad: 1, seed: seed, stride: 2)
  layer n1 = nn.BatchNorm(2 * n)
  layer c2 = nn.Conv2D(2 * n, 2 * n, 3, pad: 1, seed: seed)
  layer n2 = nn.BatchNorm(2 * n)
  task shortcut(in x: f32[B, n, H, W], h: int = (H - 1) / 2 + 1, w: int = (W - 1) / 2 + 1) -> (y: f32[B, 2 * n, h, w]) {
    y = x.max_pool(1, 2).pad(1, n / 2, n / 2)
  }
  graph forward(x: f32[B, n, H, W], h: int = (H - 1) / 2 + 1, w: int = (W - 1) / 2 + 1) -> (z: f32[B, 2 * n, h, w]) {
    let y = n2.images(c2.forward(rectified(n1.images(c1.forward(x).y).y).y).y).y
    z = joined(shortcut(x).y, y).z
  }
}
agent ResNet20() {
  layer c = nn.Conv2D(3, 16, 3, pad: 1, seed: 100)
  layer n = nn.BatchNorm(16)
  layer first = map(0..3, k => Block(16, k))
  layer second = Stage(16, 4)
  layer third = map(0..2, k => Block(32, 5 + k))
  layer fourth = Stage(32, 7)
  layer fifth = map(0..2, k => Block(64, 8 + k))
  layer pool = nn.GlobalPool()
  layer f = nn.Linear(64, 10, seed: 200)
  graph forward(x: f32[B, 3, H, W]) -> (y: f32[B, 10]) {
    let a = rectified(n.images(c.forward(x).y).y).y
    let b = second.forward(first[2].forward(first[1].forward(first[0].forward(a).z).z).z).z
    let d = fourth.forward(third[1].forward(third[0].forward(b).z).z).z
    y = f.forward(pool.forward(fifth[1].forward(fifth[0].forward(d).z).z).y).y
  }
}
let m = train(ResNet20(), loss: "sparse_categorical_crossentropy", optimizer: sgd(lr: 0.01, momentum: 0.9), parts: parts)
let x = normal(f32[32, 3, 32, 32], seed: 1)
let t = (uniform(f32[32], seed: 2) * 10.0).floor() as i64[32]
)";

constexpr double block_products = 8.0 * 64 * (4 * 128 * 128 + 2 * 128 * 512), block_attention = 8.0 * 2 * 64 * 64 * 128;

constexpr const char* transformer_block = R"(
agent Net() {
  layer block = nn.TransformerBlock(4, 32, 512, seed: 1)
  graph forward(x: f32[B, T, 128]) -> (y: f32[B, T, 128]) { y = block.sequences(x).y }
}
let m = train(Net(), loss: "mse_avg", optimizer: sgd(lr: 0.01, momentum: 0.9), parts: parts)
let x = normal(f32[8, 64, 128], seed: 1)
let t = normal(f32[8, 64, 128], seed: 2)
)";

constexpr TrainNet nets[] = {
    {"mlp", "784-512-10, batch 64", mlp, 20, 64 * (2 * mlp_first + 3 * mlp_last), 0.9},
    {"lenet", "batch 64", lenet, 10, 64 * (2 * lenet_first + 3 * lenet_rest), 0.35},
    {"resnet-20", "batch 32", resnet, 1, 32 * (2 * resnet_first + 3 * resnet_rest), 0.6},
    {"transformer block", "8 x 64 rows of 128", transformer_block, 4, 3 * (block_products + block_attention), 0},
};

}  // namespace

std::span<const TrainNet> train_nets() { return nets; }

}  // namespace taskspec::bench
