// Descriptors of the system that close themselves, and sockets of this machine by which they go to other processes.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace taskspec {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

// Sockets that are known by a name alone, no file; none: that did not work.
Descriptor listen_abstract(const std::string& name);
Descriptor connect_abstract(const std::string& name);
// The next who connects, if it is of this user.
Descriptor accept_own(int listener);

bool send_descriptors(int socket, const std::vector<int>& numbers);
std::vector<Descriptor> receive_descriptors(int socket);

}  // namespace taskspec
