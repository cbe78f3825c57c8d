// ONNX models for tests, written byte by byte: no model file stands in the tree, and tests need no protobuf.
//
//   OnnxModel model(13);
//   model.input("x", {"batch", 4}).weight("w", array).node("Gemm", {"x", "w"}, {"y"}, {attribute("transB", 1)});
//   folder.put("net.onnx", model.output("y", {"batch", 8}).bytes());
#pragma once
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "ir/types/array.hpp"

// A message of protobuf: fields one after the other.
class Message {
 public:
  Message& number(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    return varint(value);
  }
  Message& text(int field, const std::string& bytes) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  Message& message(int field, const Message& inner) { return text(field, inner.bytes_); }
  Message& real(int field, float value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 5);
    char raw[4];
    std::memcpy(raw, &value, 4);
    bytes_.append(raw, 4);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Message& varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  std::string bytes_;
};

inline Message attribute(const std::string& name, std::int64_t value) {
  return Message().text(1, name).number(3, static_cast<std::uint64_t>(value)).number(20, 2);
}
inline Message attribute(const std::string& name, float value) {
  return Message().text(1, name).real(2, value).number(20, 1);
}
inline Message attribute(const std::string& name, const std::string& value) {
  return Message().text(1, name).text(4, value).number(20, 3);
}
inline Message attribute(const std::string& name, const std::vector<std::int64_t>& values) {
  Message made;
  made.text(1, name);
  for (const std::int64_t value : values) made.number(8, static_cast<std::uint64_t>(value));
  return made.number(20, 7);
}

class OnnxModel {
 public:
  explicit OnnxModel(std::int64_t opset = 13) : opset_(opset) {}

  using Extent = std::variant<std::int64_t, std::string>;
  OnnxModel& input(const std::string& name, const std::vector<Extent>& extents, int type = 1) {
    return value(11, name, extents, type);
  }
  OnnxModel& output(const std::string& name, const std::vector<Extent>& extents, int type = 1) {
    return value(12, name, extents, type);
  }
  OnnxModel& weight(const std::string& name, const taskspec::Array& array) {
    graph_.message(5, tensor(name, array));
    return *this;
  }
  // Whose data lie in another file.
  OnnxModel& weight_beside(const std::string& name, const std::vector<std::int64_t>& extents,
                           const std::string& location) {
    Message made;
    for (const std::int64_t extent : extents) made.number(1, static_cast<std::uint64_t>(extent));
    made.number(2, 1).text(8, name).message(13, Message().text(1, "location").text(2, location)).number(14, 1);
    graph_.message(5, made);
    return *this;
  }
  OnnxModel& node(const std::string& op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs, const std::vector<Message>& attributes = {},
                  const std::string& domain = "") {
    Message made;
    for (const std::string& name : inputs) made.text(1, name);
    for (const std::string& name : outputs) made.text(2, name);
    made.text(3, op + "_" + outputs[0]).text(4, op);
    for (const Message& one : attributes) made.message(5, one);
    if (!domain.empty()) made.text(7, domain);
    graph_.message(1, made);
    return *this;
  }
  std::string bytes() const {
    const Message version = Message().text(1, "").number(2, static_cast<std::uint64_t>(opset_));
    return Message().number(1, 8).text(2, "test").message(7, graph_).message(8, version).bytes();
  }

 private:
  OnnxModel& value(int field, const std::string& name, const std::vector<Extent>& extents, int type) {
    Message shape;
    for (const Extent& extent : extents) {
      Message dim;
      if (const auto* known = std::get_if<std::int64_t>(&extent))
        dim.number(1, static_cast<std::uint64_t>(*known));
      else
        dim.text(2, std::get<std::string>(extent));
      shape.message(1, dim);
    }
    const Message of_tensor = Message().number(1, static_cast<std::uint64_t>(type)).message(2, shape);
    graph_.message(field, Message().text(1, name).message(2, Message().message(1, of_tensor)));
    return *this;
  }
  static Message tensor(const std::string& name, const taskspec::Array& array) {
    const bool real = taskspec::is_float(array.precision());
    Message made;
    for (const std::int64_t extent : array.extents()) made.number(1, static_cast<std::uint64_t>(extent));
    made.number(2, real ? 1 : 7).text(8, name);
    return made.text(9, std::string(reinterpret_cast<const char*>(array.raw()), array.bytes()));
  }

  std::int64_t opset_;
  Message graph_;
};

inline taskspec::Array array_of_reals(std::vector<std::int64_t> extents, double first = 0.1, double step = 0.1) {
  taskspec::Array array = taskspec::Array::make({taskspec::Precision::f32, std::move(extents)});
  for (std::int64_t i = 0; i < array.elements(); ++i) array.set_number(i, first + step * static_cast<double>(i % 7));
  return array;
}

inline taskspec::Array array_of_integers(const std::vector<std::int64_t>& values) {
  taskspec::Array array = taskspec::Array::make({taskspec::Precision::i64, {static_cast<std::int64_t>(values.size())}});
  for (std::size_t i = 0; i < values.size(); ++i) array.set_integer(static_cast<std::int64_t>(i), values[i]);
  return array;
}

// x [batch, 4] to y [batch, 3]: two layers.
inline OnnxModel onnx_mlp() {
  OnnxModel model;
  model.input("x", {"batch", 4}).output("y", {"batch", 3});
  model.weight("fc1.weight", array_of_reals({5, 4})).weight("fc1.bias", array_of_reals({5}));
  model.weight("fc2.weight", array_of_reals({3, 5})).weight("fc2.bias", array_of_reals({3}));
  model.node("Gemm", {"x", "fc1.weight", "fc1.bias"}, {"h"}, {attribute("transB", std::int64_t{1})});
  model.node("Relu", {"h"}, {"r"});
  model.node("Gemm", {"r", "fc2.weight", "fc2.bias"}, {"y"}, {attribute("transB", std::int64_t{1})});
  return model;
}
