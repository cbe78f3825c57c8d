// NIR files are HDF5: nobody else knows of libhdf5. What is read is hostile until proven: only what lies in the file
// itself is followed (no links to elsewhere, no external or virtual data, no filter that is not built in), and no array
// is larger than what its bytes could unpack to.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>

#include "interp/import/nir/hdf5_handle.hpp"
#include "interp/import/nir/traces.hpp"
#include "ir/base/diag.hpp"

namespace taskspec::nir {

namespace {

constexpr std::size_t most_nodes = 100'000;
constexpr int deepest_graph = 32;
constexpr std::size_t longest_text = 1 << 16;
constexpr std::size_t best_packing = 1'040;  // bytes that deflate makes of one, at most
constexpr std::size_t small_array = 4'096;   // that a file may leave to its fill value

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  Model read() {
    const Handle file = open();
    Model model;
    if (attribute_word(file, "__type__") == "NIRGraphData")
      fail("it holds traces, no model: taskspec import " + path_ + " -o traces.npz");
    if (std::optional<Handle> version = child(file, "version")) model.version = text(*version, "/version");
    std::optional<Handle> root = child(file, "node");
    if (!root || H5Iget_type(*root) != H5I_GROUP) fail("it has no group '/node', so it is no NIR model");
    model.root = node(*root, "", 0);
    if (model.root.type != "NIRGraph") fail("its '/node' is a " + model.root.type + ", not a NIRGraph");
    return model;
  }

  std::vector<Trace> read_traces() {
    const Handle file = open();
    if (attribute_word(file, "__type__") != "NIRGraphData") fail("it holds no traces");
    std::vector<Trace> traces;
    traces_of_graph(file, "", 0, traces);
    return traces;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw failure("E7003", {}, "'" + path_ + "': " + what); }

  Handle open() {
    keep_library_quiet();
    std::error_code unknown;
    file_bytes_ = std::filesystem::file_size(path_, unknown);
    if (unknown) throw failure("E7001", {}, "'" + path_ + "' was not found");
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false, true);
    Handle file(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
    if (!file.valid()) fail("it is no HDF5 file");
    return file;
  }

  // ---- traces ----

  // Empty where there is none.
  std::string attribute_word(hid_t object, const char* name) {
    if (H5Aexists(object, name) <= 0) return "";
    const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
    const Handle type(attribute.valid() ? H5Aget_type(attribute) : H5I_INVALID_HID, H5Tclose);
    if (!attribute.valid() || !type.valid() || H5Tget_class(type) != H5T_STRING ||
        H5Aget_storage_size(attribute) > longest_text)
      fail("attribute '" + std::string(name) + "' is no word");
    if (H5Tis_variable_str(type) > 0) {
      char* word = nullptr;
      const Handle memory(H5Tcopy(type), H5Tclose);
      if (H5Aread(attribute, memory, &word) < 0 || !word) fail("attribute '" + std::string(name) + "' cannot be read");
      const std::string text(word, strnlen(word, longest_text));
      H5free_memory(word);
      return text;
    }
    std::string text(H5Tget_size(type) + 1, '\0');
    if (H5Aread(attribute, type, text.data()) < 0) fail("attribute '" + std::string(name) + "' cannot be read");
    return text.c_str();
  }

  double attribute_number(hid_t object, const char* name, const std::string& where) {
    const Handle attribute(H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : H5I_INVALID_HID,
                           H5Aclose);
    const Handle space(attribute.valid() ? H5Aget_space(attribute) : H5I_INVALID_HID, H5Sclose);
    const Handle type(attribute.valid() ? H5Aget_type(attribute) : H5I_INVALID_HID, H5Tclose);
    double number = 0;
    const bool is_number = type.valid() && (H5Tget_class(type) == H5T_INTEGER || H5Tget_class(type) == H5T_FLOAT);
    if (!is_number || H5Sget_simple_extent_npoints(space) != 1 || H5Aread(attribute, H5T_NATIVE_DOUBLE, &number) < 0)
      fail("'" + where + "' has no number '" + name + "'");
    return number;
  }

  void traces_of_graph(hid_t graph, const std::string& where, int depth, std::vector<Trace>& traces) {
    if (depth > deepest_graph) fail("'" + where + "': more than 32 graphs stand in one another");
    const std::optional<Handle> nodes = child(graph, "nodes");
    if (!nodes || H5Iget_type(*nodes) != H5I_GROUP) fail("graph '" + where + "' has no group 'nodes'");
    for (const std::string& name : names(*nodes, where)) {
      if (++nodes_ > most_nodes) fail("it has more than 100000 nodes");
      const std::optional<Handle> node = child(*nodes, name);
      const std::string path = where.empty() ? name : where + "/" + name;
      const std::string kind = H5Iget_type(*node) == H5I_GROUP ? attribute_word(*node, "__type__") : "";
      if (kind == "NIRGraphData")
        traces_of_graph(*node, path, depth + 1, traces);
      else if (kind == "NIRNodeData")
        traces_of_node(*node, path, traces);
      else
        fail("'" + path + "' is of the unknown kind '" + kind + "'");
    }
  }

  void traces_of_node(hid_t node, const std::string& where, std::vector<Trace>& traces) {
    const std::optional<Handle> all = child(node, "observables");
    if (!all || H5Iget_type(*all) != H5I_GROUP) fail("node '" + where + "' has no group 'observables'");
    for (const std::string& name : names(*all, where)) {
      if (++nodes_ > most_nodes) fail("it has more than 100000 traces");
      const std::optional<Handle> one = child(*all, name);
      if (H5Iget_type(*one) != H5I_GROUP) fail("'" + where + "/" + name + "' is no trace");
      traces.push_back(trace_of(*one, where, name));
    }
  }

  Trace trace_of(hid_t group, const std::string& node, const std::string& name) {
    const std::string where = node + "/" + name, kind = attribute_word(group, "__type__");
    Trace trace;
    trace.node = node;
    trace.observable = name;
    if (kind == "TimeGriddedData") {
      trace.data = trace_array(group, "data", where, 3);
      trace.dt = attribute_number(group, "dt", where);
      trace.neurons = trace.data.extents()[2];
      trace.t_max = trace.dt * static_cast<double>(trace.data.extents()[1]);
      return trace;
    }
    trace.kind = kind == "ValuedEventData" ? Trace::Kind::valued_events : Trace::Kind::events;
    if (kind != "EventData" && kind != "ValuedEventData") fail("'" + where + "' is of the unknown kind '" + kind + "'");
    trace.index = trace_array(group, "idx", where, 2);
    trace.time = trace_array(group, "time", where, 2);
    if (kind == "ValuedEventData") trace.value = trace_array(group, "value", where, 2);
    const bool agree = trace.time.extents() == trace.index.extents() &&
                       (!trace.value.valid() || trace.value.extents() == trace.index.extents());
    if (trace.index.precision() != Precision::i64 || !agree) fail("the events of '" + where + "' do not agree");
    const double neurons = attribute_number(group, "n_neurons", where);
    trace.t_max = attribute_number(group, "t_max", where);
    if (!(neurons >= 0 && neurons <= 1e9) || !(trace.t_max >= 0)) fail("'" + where + "' has no neurons or no end");
    trace.neurons = static_cast<std::int64_t>(neurons);
    return trace;
  }

  // Truth values are an enumeration of one byte there.
  Array trace_array(hid_t group, const char* name, const std::string& where, std::size_t rank) {
    const Handle data = dataset(group, name, where);
    const Handle type(H5Dget_type(data), H5Tclose);
    const std::string path = where + "/" + name;
    Array array;
    if (H5Tget_class(type) == H5T_ENUM && H5Tget_size(type) == 1) {
      array = Array::make({Precision::boolean, extents(data, 1, path)});
      if (array.elements() > 0 && H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.raw()) < 0)
        fail("'" + path + "' cannot be unpacked");
      for (std::int64_t i = 0; i < array.elements(); ++i) array.set_integer(i, array.raw()[i] != std::byte{0});
    } else if (H5Tget_class(type) == H5T_INTEGER || H5Tget_class(type) == H5T_FLOAT) {
      array = this->array(data, type, path);
    } else {
      fail("'" + path + "' holds no numbers");
    }
    if (array.extents().size() != rank) fail("'" + path + "' has not " + std::to_string(rank) + " axes");
    return array;
  }

  // ---- models ----

  // The names in a group, by their bytes. Links that lead elsewhere are refused.
  std::vector<std::string> names(hid_t group, const std::string& where) {
    struct Visit {
      std::vector<std::string> names;
      std::string strange;
    } visit;
    auto each = [](hid_t, const char* name, const H5L_info_t* info, void* data) -> herr_t {
      Visit& seen = *static_cast<Visit*>(data);
      if (info->type != H5L_TYPE_HARD || std::strlen(name) > longest_text) {
        seen.strange = name;
        return -1;
      }
      seen.names.emplace_back(name);
      return seen.names.size() > most_nodes ? -1 : 0;
    };
    hsize_t position = 0;
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, &position, each, &visit) < 0)
      fail(visit.strange.empty() ? "group '" + where + "/' is broken or too large"
                                 : "'" + where + "/" + visit.strange + "' is a link to elsewhere");
    std::ranges::sort(visit.names);
    return std::move(visit.names);
  }

  std::optional<Handle> child(hid_t group, const std::string& name) {
    H5L_info_t info;
    if (H5Lexists(group, name.c_str(), H5P_DEFAULT) <= 0) return std::nullopt;
    if (H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
      fail("'" + name + "' is a link to elsewhere");
    Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object.valid()) fail("'" + name + "' cannot be read");
    return object;
  }

  Handle dataset(hid_t group, const std::string& name, const std::string& where) {
    std::optional<Handle> found = child(group, name);
    if (!found || H5Iget_type(*found) != H5I_DATASET) fail("'" + where + "' has no '" + name + "'");
    return std::move(*found);
  }

  Node node(hid_t group, const std::string& where, int depth) {
    if (depth > deepest_graph) fail("'" + where + "': more than 32 graphs stand in one another");
    if (++nodes_ > most_nodes) fail("it has more than 100000 nodes");
    Node made;
    const std::size_t slash = where.rfind('/');
    made.name = slash == std::string::npos ? where : where.substr(slash + 1);
    made.type = text(dataset(group, "type", where.empty() ? "/node" : where), where + "/type");
    if (made.type == "NIRGraph") {
      graph(group, made, where, depth);
      return made;
    }
    for (const std::string& name : names(group, where)) {
      if (name == "type" || name == "metadata") continue;
      const Handle parameter = dataset(group, name, where);
      made.parameters.emplace(name, value(parameter, where + "/" + name));
    }
    return made;
  }

  void graph(hid_t group, Node& made, const std::string& where, int depth) {
    const std::optional<Handle> nodes = child(group, "nodes");
    if (!nodes || H5Iget_type(*nodes) != H5I_GROUP) fail("graph '" + where + "' has no group 'nodes'");
    for (const std::string& name : names(*nodes, where)) {
      const std::optional<Handle> inner = child(*nodes, name);
      const std::string path = where.empty() ? name : where + "/" + name;
      if (H5Iget_type(*inner) != H5I_GROUP) fail("'" + path + "' is no node");
      made.nodes.push_back(node(*inner, path, depth + 1));
      made.nodes.back().name = name;
    }
    const std::string edges = where + "/edges";
    const std::vector<std::string> ends = texts(dataset(group, "edges", where), edges, true);
    if (ends.size() % 2 != 0) fail("'" + edges + "' are no pairs");
    for (std::size_t i = 0; i < ends.size(); i += 2) made.edges.emplace_back(ends[i], ends[i + 1]);
  }

  // ---- values ----

  // The extents, if the file can hold so much.
  Extents extents(hid_t data, std::size_t element, const std::string& where) {
    const Handle space(H5Dget_space(data), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 0 || H5Sget_simple_extent_type(space) == H5S_NULL) fail("'" + where + "' has no shape");
    std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space, dims.data(), nullptr);
    const Handle creation(H5Dget_create_plist(data), H5Pclose);
    refuse_elsewhere(creation, where);
    const std::size_t stored = std::min<std::size_t>(H5Dget_storage_size(data), file_bytes_);
    const bool packed = H5Pget_nfilters(creation) > 0;
    const std::size_t most = (packed ? best_packing : 1) * stored + small_array;
    std::size_t bytes = element;
    for (hsize_t dim : dims)
      if (dim > 0 && bytes > most / dim)
        too_large(where);
      else
        bytes *= dim;
    refuse_large_chunks(creation, element, most, where);
    total_ += bytes;
    if (total_ > best_packing * file_bytes_ + most_nodes * small_array) too_large(where);
    return {dims.begin(), dims.end()};
  }

  [[noreturn]] void too_large(const std::string& where) const {
    fail("'" + where + "' says that it is larger than what its bytes in the file can hold");
  }

  void refuse_elsewhere(hid_t creation, const std::string& where) const {
    const H5D_layout_t layout = H5Pget_layout(creation);
    if (H5Pget_external_count(creation) > 0 || layout == H5D_VIRTUAL) fail("the data of '" + where + "' lie elsewhere");
    for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
      unsigned flags = 0, config = 0;
      std::size_t count = 0;
      const H5Z_filter_t filter =
          H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &count, nullptr, 0, nullptr, &config);
      if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
        fail("'" + where + "' is packed by something else than gzip");
    }
  }

  void refuse_large_chunks(hid_t creation, std::size_t element, std::size_t most, const std::string& where) const {
    if (H5Pget_layout(creation) != H5D_CHUNKED) return;
    hsize_t chunk[H5S_MAX_RANK];
    const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, chunk);
    std::size_t bytes = element;
    for (int i = 0; i < rank; ++i)
      if (chunk[i] == 0 || bytes > most / chunk[i])
        too_large(where);
      else
        bytes *= chunk[i];
  }

  Parameter value(hid_t data, const std::string& where) {
    const Handle type(H5Dget_type(data), H5Tclose);
    switch (H5Tget_class(type)) {
      case H5T_STRING:
        return text(data, where);
      case H5T_INTEGER:
      case H5T_FLOAT:
        return array(data, type, where);
      default:
        fail("'" + where + "' holds neither numbers nor a word");
    }
  }

  Array array(hid_t data, hid_t type, const std::string& where) {
    const bool whole = H5Tget_class(type) == H5T_INTEGER;
    const bool wide = H5Tget_size(type) > 4;
    const Precision precision = whole ? Precision::i64 : wide ? Precision::f64 : Precision::f32;
    const Extents shape = extents(data, std::max<std::size_t>(H5Tget_size(type), 1), where);
    Array made = Array::make({precision, shape});
    const hid_t memory = whole ? H5T_NATIVE_INT64 : wide ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
    if (made.elements() > 0 && H5Dread(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, made.raw()) < 0)
      fail("'" + where + "' cannot be unpacked");
    return made;
  }

  std::string text(hid_t data, const std::string& where) {
    std::vector<std::string> all = texts(data, where, false);
    if (all.size() != 1) fail("'" + where + "' is no single word");
    return std::move(all[0]);
  }

  // An empty list comes as numbers.
  std::vector<std::string> texts(hid_t data, const std::string& where, bool may_be_empty) {
    if (H5Iget_type(data) != H5I_DATASET) fail("'" + where + "' is no dataset");
    const Handle type(H5Dget_type(data), H5Tclose);
    const bool words = H5Tget_class(type) == H5T_STRING;
    const std::size_t width = std::max<std::size_t>(H5Tget_size(type), 1);
    const Extents shape = extents(data, width, where);
    std::size_t count = 1;
    for (std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    if (count == 0 && may_be_empty) return {};
    if (!words || (may_be_empty && (shape.size() != 2 || shape[1] != 2))) fail("'" + where + "' does not hold words");
    return H5Tis_variable_str(type) > 0 ? of_any_length(data, type, count, where)
                                        : of_one_length(data, type, count, width, where);
  }

  std::vector<std::string> of_any_length(hid_t data, hid_t type, std::size_t count, const std::string& where) {
    const Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(memory, H5T_VARIABLE);
    H5Tset_cset(memory, H5Tget_cset(type));
    std::vector<char*> words(count, nullptr);
    const Handle space(H5Dget_space(data), H5Sclose);
    const herr_t done = H5Dread(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, words.data());
    std::vector<std::string> made;
    bool fine = done >= 0;
    for (const char* word : words) {
      fine = fine && word && std::memchr(word, 0, longest_text) != nullptr;
      if (fine) made.emplace_back(word);
    }
    if (done >= 0) H5Dvlen_reclaim(memory, space, H5P_DEFAULT, words.data());
    if (!fine) fail("the words of '" + where + "' cannot be read");
    return made;
  }

  std::vector<std::string> of_one_length(hid_t data, hid_t type, std::size_t count, std::size_t width,
                                         const std::string& where) {
    const Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(memory, width + 1);
    H5Tset_cset(memory, H5Tget_cset(type));
    std::string bytes(count * (width + 1), '\0');
    if (H5Dread(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0)
      fail("the words of '" + where + "' cannot be read");
    std::vector<std::string> made;
    for (std::size_t i = 0; i < count; ++i) made.emplace_back(bytes.c_str() + i * (width + 1));
    return made;
  }

  const std::string path_;
  std::size_t file_bytes_ = 0, total_ = 0, nodes_ = 0;
};

}  // namespace

Model read_model(const std::string& path) { return Reader(path).read(); }
std::vector<Trace> read_traces(const std::string& path) { return Reader(path).read_traces(); }

}  // namespace taskspec::nir
