// The one source that knows protobuf: the messages of a model as plain records.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "interp/import/memory.hpp"
#include "interp/import/onnx/model.hpp"
#include "ir/files/files.hpp"

namespace taskspec::onnx {

namespace {

namespace fs = std::filesystem;
namespace pb = ::onnx;
using Kind = pb::TensorProto;

constexpr int deepest = 100;                             // nested graphs
constexpr std::size_t largest = (std::size_t{1} << 31);  // of a message, by protobuf itself

Error broken(const std::string& path, const std::string& why) {
  return failure("E7003", {}, "'" + path + "' is broken: " + why);
}

std::optional<Precision> precision_of(int type) {
  switch (type) {
    case Kind::FLOAT:
      return Precision::f32;
    case Kind::UINT8:
      return Precision::u8;
    case Kind::INT8:
      return Precision::i8;
    case Kind::UINT16:
      return Precision::u16;
    case Kind::INT16:
      return Precision::i16;
    case Kind::INT32:
      return Precision::i32;
    case Kind::INT64:
      return Precision::i64;
    case Kind::BOOL:
      return Precision::boolean;
    case Kind::FLOAT16:
      return Precision::f16;
    case Kind::DOUBLE:
      return Precision::f64;
    case Kind::UINT32:
      return Precision::u32;
    case Kind::UINT64:
      return Precision::u64;
    default:
      return std::nullopt;
  }
}

std::string type_name(int type) {
  return pb::TensorProto_DataType_IsValid(type)
             ? "tensors of " + pb::TensorProto_DataType_Name(static_cast<pb::TensorProto_DataType>(type))
             : "tensors of type " + std::to_string(type);
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  template <class Message>
  Message parse() const {
    const std::string bytes = read_text(path_, largest);
    bytes_ = bytes.size();
    Message message;
    google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
    google::protobuf::io::CodedInputStream coded(&stream);
    coded.SetRecursionLimit(deepest);
    if (!message.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
      throw broken(path_, "it is no message of protobuf");
    return message;
  }

  Model model() const {
    const auto message = parse<pb::ModelProto>();
    if (!message.has_graph()) throw broken(path_, "it holds no graph");
    Model model;
    model.producer = message.producer_name();
    for (const auto& opset : message.opset_import()) {
      const std::string domain = opset.domain() == "ai.onnx" ? "" : opset.domain();
      model.opsets[domain] = std::max(model.opsets[domain], opset.version());
    }
    if (!model.opsets.contains("")) model.opsets[""] = 1;  // of before there were versions
    if (message.functions_size() > 0)
      throw failure("E7003", {}, "'" + path_ + "' defines functions of its own, which are not read");
    model.graph = graph(message.graph(), 0);
    model.bytes = bytes_;
    return model;
  }

  Stored stored(const pb::TensorProto& tensor) const {
    Stored made;
    made.name = tensor.name();
    const std::optional<Precision> precision = precision_of(tensor.data_type());
    if (!precision) {
      made.other = type_name(tensor.data_type());
      return made;
    }
    ArrayType type{*precision, {tensor.dims().begin(), tensor.dims().end()}};
    for (const std::int64_t extent : type.extents)
      if (extent < 0) throw broken(path_, "tensor '" + made.name + "' has a negative extent");
    made.array = elements(tensor, type);
    return made;
  }

 private:
  // ---- tensors ----

  Array elements(const pb::TensorProto& tensor, const ArrayType& type) const {
    const std::size_t bytes = type.bytes();
    if (tensor.data_location() == pb::TensorProto::EXTERNAL) return beside(tensor, type);
    if (tensor.has_raw_data()) {
      if (tensor.raw_data().size() != bytes) throw wrong_count(tensor, type);
      Array array = Array::make(type);
      std::memcpy(array.raw(), tensor.raw_data().data(), bytes);
      return array;
    }
    switch (type.precision) {
      case Precision::f32:
        return copied(tensor, type, tensor.float_data());
      case Precision::f64:
        return copied(tensor, type, tensor.double_data());
      case Precision::i64:
        return copied(tensor, type, tensor.int64_data());
      case Precision::u32:
      case Precision::u64:
        return copied(tensor, type, tensor.uint64_data());
      default:
        return copied(tensor, type, tensor.int32_data());
    }
  }

  template <class Field>
  Array copied(const pb::TensorProto& tensor, const ArrayType& type, const Field& field) const {
    if (field.size() != type.elements()) throw wrong_count(tensor, type);
    Array array = Array::make(type);
    using T = typename Field::value_type;
    for (int i = 0; i < field.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>)
        array.data<T>()[static_cast<std::size_t>(i)] = field[i];
      else if (type.precision == Precision::f16)
        array.data<std::uint16_t>()[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(field[i]);
      else
        array.set_integer(i, static_cast<std::int64_t>(field[i]));
    }
    return array;
  }

  Error wrong_count(const pb::TensorProto& tensor, const ArrayType& type) const {
    return broken(path_, "tensor '" + tensor.name() + "' of " + type.text() + " has other data than that");
  }

  // Data in a file of their own: a name below the model's folder, and nothing that leads out of it.
  Array beside(const pb::TensorProto& tensor, const ArrayType& type) const {
    std::string location;
    std::uint64_t offset = 0, length = type.bytes();
    for (const auto& entry : tensor.external_data()) {
      if (entry.key() == "location") location = entry.value();
      if (entry.key() == "offset") offset = number(entry.value());
      if (entry.key() == "length") length = number(entry.value());
    }
    const fs::path folder = fs::path(path_).parent_path();
    std::error_code none;
    const fs::path root = fs::weakly_canonical(folder.empty() ? "." : folder, none);
    const fs::path file = fs::weakly_canonical(root / location, none);
    if (location.empty() || std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first != root.end())
      throw failure("E7003", {},
                    "the data of tensor '" + tensor.name() + "' lie outside of the model's folder: '" + location + "'");
    const std::uintmax_t size = fs::is_regular_file(file, none) ? fs::file_size(file, none) : 0;
    if (!fs::exists(file, none))
      throw failure("E7001", {},
                    "no file '" + (folder / location).string() + "', which holds tensor '" + tensor.name() + "'");
    if (length != type.bytes() || offset > size || length > size - offset) throw wrong_count(tensor, type);
    allow_memory(length);
    bytes_ += length;
    Array array = Array::make(type);
    std::FILE* in = std::fopen(file.c_str(), "rb");
    const bool read = in && std::fseek(in, static_cast<long>(offset), SEEK_SET) == 0 &&
                      std::fread(array.raw(), 1, length, in) == length;
    if (in) std::fclose(in);
    if (!read) throw failure("E7001", {}, "'" + file.string() + "' cannot be read");
    return array;
  }

  std::uint64_t number(const std::string& text) const {
    std::uint64_t value = 0;
    for (const char c : text) {
      if (c < '0' || c > '9' || value > UINT64_MAX / 20) throw broken(path_, "'" + text + "' is no place in a file");
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value;
  }

  // ---- graphs ----

  Graph graph(const pb::GraphProto& message, int depth) const {
    Graph made;
    made.name = message.name();
    for (const auto& node : message.node()) made.nodes.push_back(this->node(node, depth));
    for (const auto& tensor : message.initializer()) made.initializers.push_back(stored(tensor));
    if (message.sparse_initializer_size() > 0) throw broken(path_, "sparse tensors are not read");
    for (const auto& value : message.input()) made.inputs.push_back(declared(value));
    for (const auto& value : message.output()) made.outputs.push_back(declared(value));
    return made;
  }

  static Declared declared(const pb::ValueInfoProto& value) {
    Declared made;
    made.name = value.name();
    if (!value.type().has_tensor_type()) {
      made.other = "no tensor";
      return made;
    }
    const auto& type = value.type().tensor_type();
    made.precision = precision_of(type.elem_type());
    if (!made.precision) made.other = type_name(type.elem_type());
    if (!type.has_shape()) return made;
    made.extents.emplace();
    for (const auto& dim : type.shape().dim())
      made.extents->push_back(dim.has_dim_value() ? Extent(dim.dim_value()) : Extent(dim.dim_param()));
    return made;
  }

  Node node(const pb::NodeProto& message, int depth) const {
    Node made{message.op_type(), message.domain() == "ai.onnx" ? "" : message.domain(), message.name(), {}, {}, {}};
    made.inputs.assign(message.input().begin(), message.input().end());
    made.outputs.assign(message.output().begin(), message.output().end());
    for (const auto& attribute : message.attribute()) made.attributes.push_back(this->attribute(attribute, depth));
    return made;
  }

  Attribute attribute(const pb::AttributeProto& message, int depth) const {
    Attribute made;
    made.name = message.name();
    if (message.has_i()) made.integer = message.i();
    if (message.has_f()) made.real = static_cast<double>(message.f());
    if (message.has_s()) made.text = message.s();
    made.integers.assign(message.ints().begin(), message.ints().end());
    made.reals.assign(message.floats().begin(), message.floats().end());
    made.texts.assign(message.strings().begin(), message.strings().end());
    if (message.has_t()) made.tensor = stored(message.t());
    if (message.has_g()) made.graph = std::make_shared<Graph>(graph(message.g(), depth + 1));
    return made;
  }

  const std::string& path_;
  mutable std::uint64_t bytes_ = 0;  // read so far
};

}  // namespace

const Attribute* Node::attribute(std::string_view wanted) const {
  const auto found = std::ranges::find(attributes, wanted, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::string Node::shown() const {
  if (!name.empty()) return name;
  for (const std::string& output : outputs)
    if (!output.empty()) return output;
  return op;
}

Model read_model(const std::string& path) { return Reader(path).model(); }

Stored read_tensor(const std::string& path) {
  const Reader reader(path);
  return reader.stored(reader.parse<pb::TensorProto>());
}

}  // namespace taskspec::onnx
