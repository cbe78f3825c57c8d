// NIR files are written: models and traces, every array packed.
#include <algorithm>
#include <filesystem>

#include "interp/import/nir/hdf5_handle.hpp"
#include "interp/import/nir/traces.hpp"
#include "ir/base/diag.hpp"

namespace taskspec::nir {

namespace {

class Writer {
 public:
  explicit Writer(const std::string& path) : path_(path) { keep_library_quiet(); }

  void write(const Model& model, const std::string& beside) {
    const Handle file(H5Fcreate(beside.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    check(file.valid());
    words(file, "version", {model.version}, {});
    group(file, "node", model.root);
    check(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  }

  void write(const std::vector<Trace>& traces, const std::string& beside) {
    const Handle file(H5Fcreate(beside.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    check(file.valid());
    attribute(file, "__type__", "NIRGraphData");
    const Handle nodes(H5Gcreate2(file, "nodes", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    check(nodes.valid());
    for (const Trace& trace : traces) {
      // A node of a nested graph stands in the group of that.
      std::vector<Handle> way;
      hid_t at = nodes;
      for (std::size_t begin = 0; begin <= trace.node.size();) {
        const std::size_t end = std::min(trace.node.find('/', begin), trace.node.size());
        const bool last = end == trace.node.size();
        way.push_back(group_of(at, trace.node.substr(begin, end - begin), last ? "NIRNodeData" : "NIRGraphData"));
        way.push_back(group_of(way.back(), last ? "observables" : "nodes", ""));
        at = way.back();
        begin = end + 1;
      }
      put(group_of(at, trace.observable, ""), trace);
    }
    check(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  }

 private:
  // ---- traces ----

  Handle group_of(hid_t into, const std::string& name, const std::string& kind) {
    const bool there = H5Lexists(into, name.c_str(), H5P_DEFAULT) > 0;
    Handle made(there ? H5Gopen2(into, name.c_str(), H5P_DEFAULT)
                      : H5Gcreate2(into, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                H5Gclose);
    check(made.valid());
    if (!there && !kind.empty()) attribute(made, "__type__", kind);
    return made;
  }

  void put(const Handle& group, const Trace& trace) {
    constexpr const char* kinds[] = {"TimeGriddedData", "EventData", "ValuedEventData"};  // as in Trace::Kind
    attribute(group, "__type__", kinds[static_cast<int>(trace.kind)]);
    if (trace.kind == Trace::Kind::by_step) {
      attribute(group, "dt", H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, &trace.dt);
      return trace_numbers(group, "data", trace.data);
    }
    attribute(group, "n_neurons", H5T_NATIVE_INT64, H5T_STD_I64LE, &trace.neurons);
    attribute(group, "t_max", H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, &trace.t_max);
    trace_numbers(group, "idx", trace.index);
    trace_numbers(group, "time", trace.time);
    if (trace.kind == Trace::Kind::valued_events) trace_numbers(group, "value", trace.value);
  }

  void trace_numbers(hid_t into, const std::string& name, const Array& array) {
    if (array.precision() != Precision::boolean) return numbers(into, name, array);
    const Handle truth(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
    for (const signed char value : {0, 1}) H5Tenum_insert(truth, value != 0 ? "TRUE" : "FALSE", &value);
    const Handle data = create(into, name, truth, {array.extents().begin(), array.extents().end()});
    check(array.elements() == 0 || H5Dwrite(data, truth, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.raw()) >= 0);
  }

  void attribute(hid_t object, const char* name, hid_t memory, hid_t stored, const void* value) {
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle made(H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(made.valid() && H5Awrite(made, memory, value) >= 0);
  }

  void attribute(hid_t object, const char* name, const std::string& word) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    const char* text = word.c_str();
    attribute(object, name, type, type, &text);
  }

  // ---- models ----

  void check(bool fine) const {
    if (!fine) throw failure("E7004", {}, "'" + path_ + "' cannot be written");
  }

  void group(hid_t into, const std::string& name, const Node& node) {
    const Handle made(H5Gcreate2(into, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    check(made.valid());
    words(made, "type", {node.type}, {});
    for (const auto& [parameter, value] : node.parameters) {
      if (auto* array = std::get_if<Array>(&value))
        numbers(made, parameter, *array);
      else
        words(made, parameter, {std::get<std::string>(value)}, {});
    }
    if (node.type != "NIRGraph") return;
    const Handle nodes(H5Gcreate2(made, "nodes", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    check(nodes.valid());
    std::vector<const Node*> sorted;
    for (const Node& inner : node.nodes) sorted.push_back(&inner);
    std::ranges::sort(sorted, {}, &Node::name);
    for (const Node* inner : sorted) group(nodes, inner->name, *inner);
    edges(made, node);
  }

  void edges(hid_t into, const Node& node) {
    auto sorted = node.edges;
    std::ranges::sort(sorted);
    if (sorted.empty()) return numbers(into, "edges", Array::make({Precision::f64, {0}}));
    std::vector<std::string> ends;
    for (const auto& [from, to] : sorted) ends.insert(ends.end(), {from, to});
    words(into, "edges", ends, {sorted.size(), 2});
  }

  // Rank 0 cannot be packed, nor what has no elements.
  Handle create(hid_t into, const std::string& name, hid_t type, const std::vector<hsize_t>& dims) {
    const int rank = static_cast<int>(dims.size());
    const Handle space(rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, dims.data(), nullptr), H5Sclose);
    const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(how, false);
    const bool packs = rank > 0 && std::ranges::all_of(dims, [](hsize_t dim) { return dim > 0; });
    if (packs) {
      std::vector<hsize_t> chunk = dims;
      for (std::size_t i = 0; i < chunk.size() && elements(chunk) > largest_chunk; ++i)
        chunk[i] = std::max<hsize_t>(1, chunk[i] * largest_chunk / elements(chunk));
      H5Pset_chunk(how, rank, chunk.data());
      H5Pset_deflate(how, 4);
    }
    Handle made(H5Dcreate2(into, name.c_str(), type, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
    check(made.valid());
    return made;
  }

  static hsize_t elements(const std::vector<hsize_t>& dims) {
    hsize_t product = 1;
    for (hsize_t dim : dims) product *= dim;
    return product;
  }

  void numbers(hid_t into, const std::string& name, const Array& array) {
    const bool whole = array.precision() == Precision::i64, wide = array.precision() == Precision::f64;
    if (!whole && !wide && array.precision() != Precision::f32) bug("a parameter of a NIR node in another precision");
    const hid_t stored = whole ? H5T_STD_I64LE : wide ? H5T_IEEE_F64LE : H5T_IEEE_F32LE;
    const hid_t memory = whole ? H5T_NATIVE_INT64 : wide ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
    const Handle data = create(into, name, stored, {array.extents().begin(), array.extents().end()});
    check(array.elements() == 0 || H5Dwrite(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.raw()) >= 0);
  }

  void words(hid_t into, const std::string& name, const std::vector<std::string>& texts,
             const std::vector<hsize_t>& dims) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    std::vector<const char*> words;
    for (const std::string& text : texts) words.push_back(text.c_str());
    const Handle data = create(into, name, type, dims);
    check(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, words.data()) >= 0);
  }

  static constexpr hsize_t largest_chunk = 1 << 18;
  const std::string path_;
};

// Whole or not at all.
template <class What>
void write_whole(const What& what, const std::string& path) {
  const std::string beside = path + ".part";
  std::error_code problem;
  try {
    Writer(path).write(what, beside);
  } catch (const Error&) {
    std::filesystem::remove(beside, problem);
    throw;
  }
  std::filesystem::rename(beside, path, problem);
  if (!problem) return;
  std::filesystem::remove(beside, problem);
  throw failure("E7004", {}, "'" + path + "' cannot be written");
}

}  // namespace

void write_model(const Model& model, const std::string& path) { write_whole(model, path); }
void write_traces(const std::vector<Trace>& traces, const std::string& path) { write_whole(traces, path); }

}  // namespace taskspec::nir
