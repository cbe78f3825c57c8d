// NIR files are HDF5: nobody else knows of libhdf5. What is read is hostile until proven: only what lies in the file
// itself is followed (no links to elsewhere, no external or virtual data, no filter that is not built in), and no array
// is larger than what its bytes could unpack to.
#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>

#include "interp/import/nir/model.hpp"
#include "ir/base/diag.hpp"

namespace taskspec::nir {

namespace {

constexpr std::size_t most_nodes = 100'000;
constexpr int deepest_graph = 32;
constexpr std::size_t longest_text = 1 << 16;
constexpr std::size_t best_packing = 1'040;  // bytes that deflate makes of one, at most
constexpr std::size_t small_array = 4'096;   // that a file may leave to its fill value

// ---- handles --------------------------------------------------------------------------------------

class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// The library would print what goes wrong, and load filters from folders that the environment names.
void keep_library_quiet() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
}

// ---- reading --------------------------------------------------------------------------------------

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  Model read() {
    keep_library_quiet();
    std::error_code unknown;
    file_bytes_ = std::filesystem::file_size(path_, unknown);
    if (unknown) throw failure("E7001", {}, "'" + path_ + "' was not found");
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false, true);
    const Handle file(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
    if (!file.valid()) fail("it is no HDF5 file");
    Model model;
    if (std::optional<Handle> version = child(file, "version")) model.version = text(*version, "/version");
    std::optional<Handle> root = child(file, "node");
    if (!root || H5Iget_type(*root) != H5I_GROUP) fail("it has no group '/node', so it is no NIR model");
    model.root = node(*root, "", 0);
    if (model.root.type != "NIRGraph") fail("its '/node' is a " + model.root.type + ", not a NIRGraph");
    return model;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw failure("E7003", {}, "'" + path_ + "': " + what); }

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

// ---- writing --------------------------------------------------------------------------------------

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

 private:
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

}  // namespace

Model read_model(const std::string& path) { return Reader(path).read(); }

void write_model(const Model& model, const std::string& path) {
  const std::string beside = path + ".part";
  std::error_code problem;
  try {
    Writer(path).write(model, beside);
  } catch (const Error&) {
    std::filesystem::remove(beside, problem);
    throw;
  }
  std::filesystem::rename(beside, path, problem);
  if (!problem) return;
  std::filesystem::remove(beside, problem);
  throw failure("E7004", {}, "'" + path + "' cannot be written");
}

}  // namespace taskspec::nir
