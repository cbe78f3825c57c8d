#include "bench/exact_onnxruntime.hpp"

#include <fmt/format.h>

#include <sstream>

namespace taskspec::bench {

namespace {

// Makes the model itself, message by message: convolutions and products of bytes (QLinearConv, QLinearMatMul), which is
// what onnxruntime makes of a model with QDQ, too. Its ReLU is the zero point 0 of results without sign.
constexpr const char* script = R"JS(
let ort;
try { ort = require('onnxruntime-node'); } catch { console.log('none'); process.exit(0); }
const varint = n => { const b = []; for (; n >= 128; n = Math.floor(n / 128)) b.push(n % 128 | 128); b.push(n); return Buffer.from(b); };
const number = (field, n) => Buffer.concat([varint(field * 8), varint(n)]);
const part = (field, bytes) => { const b = Buffer.from(bytes); return Buffer.concat([varint(field * 8 + 2), varint(b.length), b]); };
const all = list => Buffer.concat(list);
const UINT8 = 2, INT8 = 3, FLOAT = 1, INT32 = 6, INT64 = 7;
const weights = [];
const tensor = (name, type, dims, raw) =>
  weights.push(part(5, all([...dims.map(d => number(1, d)), number(2, type), part(8, name), part(9, raw)])));
const raw = array => Buffer.from(array.buffer);
let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) % 256;
const bytes = n => Int8Array.from({length: n}, () => random() - 128);
tensor('in_scale', FLOAT, [], raw(new Float32Array([0.01])));
tensor('out_scale', FLOAT, [], raw(new Float32Array([1])));
tensor('middle', UINT8, [], Buffer.from([128]));
tensor('zero', UINT8, [], Buffer.from([0]));
tensor('none', INT8, [], Buffer.from([0]));
const nodes = [];
const node = (op, inputs, outputs, attributes = []) =>
  nodes.push(part(1, all([...inputs.map(x => part(1, x)), ...outputs.map(x => part(2, x)), part(4, op),
    ...attributes.map(([name, values]) =>
      part(5, all([part(1, name), ...values.map(v => number(8, v)), number(20, 7)])))])));
const conv = (x, zero, y, channels, outputs) => {
  tensor(y + '_w', INT8, [outputs, channels, 5, 5], raw(bytes(outputs * channels * 25)));
  tensor(y + '_b', INT32, [outputs], raw(new Int32Array(outputs)));
  node('QLinearConv', [x, 'in_scale', zero, y + '_w', 'in_scale', 'none', 'out_scale', 'zero', y + '_b'], [y + '_c']);
  node('MaxPool', [y + '_c'], [y], [['kernel_shape', [2, 2]], ['strides', [2, 2]]]);
};
const dense = (x, y, inputs, outputs) => {
  tensor(y + '_w', INT8, [inputs, outputs], raw(bytes(inputs * outputs)));
  node('QLinearMatMul', [x, 'in_scale', 'zero', y + '_w', 'in_scale', 'none', 'out_scale', 'zero'], [y]);
};
conv('x', 'middle', 'a', 1, 6);
conv('a', 'zero', 'b', 6, 16);
tensor('flat', INT64, [2], raw(new BigInt64Array([1n, 400n])));
node('Reshape', ['b', 'flat'], ['f']);
dense('f', 'd', 400, 120);
dense('d', 'e', 120, 84);
dense('e', 'y', 84, 10);
const value = (field, name, dims) => part(field, all([part(1, name), part(2, part(1, all([number(1, UINT8),
  part(2, all(dims.map(d => part(1, number(1, d)))))])))]));
const graph = all([...nodes, part(2, 'lenet'), ...weights, value(11, 'x', [1, 1, 32, 32]), value(12, 'y', [1, 10])]);
const model = all([number(1, 8), part(7, graph), part(8, all([part(1, ''), number(2, 13)]))]);
(async () => {
  const session = await ort.InferenceSession.create(model,
    {intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all'});
  const image = new ort.Tensor('uint8', Uint8Array.from({length: 1024}, random), [1, 1, 32, 32]);
  await session.run({x: image});
  console.log(require('onnxruntime-node/package.json').version);
  for await (const line of require('readline').createInterface({input: process.stdin})) {
    const turns = Number(line), cpu = process.cpuUsage(), begin = process.hrtime.bigint();
    for (let i = 0; i < turns; ++i) await session.run({x: image});
    const wall = Number(process.hrtime.bigint() - begin) / 1e9, used = process.cpuUsage(cpu);
    console.log(`${wall / turns} ${(used.user + used.system) / 1e6 / turns}`);
  }
})().catch(error => { console.log('none'); console.error(String(error)); process.exit(0); });
)JS";

}  // namespace

OnnxruntimeLenet::OnnxruntimeLenet() : node_(script) {}

Sample OnnxruntimeLenet::pass(int turns) {
  std::istringstream answer(node_.ask(fmt::format("{}", turns)));
  Sample sample;
  answer >> sample.wall >> sample.cpu;
  return sample;
}

}  // namespace taskspec::bench
