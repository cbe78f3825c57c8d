// What reading and writing of HDF5 share. Only the two sources beside this one include it, and interp/import/fields:
// nobody else knows of libhdf5.
#pragma once
#include <hdf5.h>

#include <utility>

namespace taskspec::nir {

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
inline void keep_library_quiet() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
}

}  // namespace taskspec::nir
