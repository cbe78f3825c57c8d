#include "interp/shards/ranks/descriptors.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace taskspec {
namespace {

constexpr std::size_t most = 4;  // descriptors at a time

// The name begins with a zero, and is as long as is said.
socklen_t address_of(const std::string& name, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  const std::size_t size = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), size);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
}

Descriptor new_socket() { return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor listen_abstract(const std::string& name) {
  Descriptor made = new_socket();
  sockaddr_un address;
  const socklen_t size = address_of(name, address);
  if (!made || ::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(made.get(), 64) != 0)
    return {};
  return made;
}

Descriptor connect_abstract(const std::string& name) {
  Descriptor made = new_socket();
  sockaddr_un address;
  const socklen_t size = address_of(name, address);
  if (!made || ::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  return made;
}

Descriptor accept_own(int listener) {
  Descriptor made(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  ucred who{};
  socklen_t size = sizeof who;
  if (!made || ::getsockopt(made.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != ::geteuid()) return {};
  return made;
}

bool send_descriptors(int socket, const std::vector<int>& numbers) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(most * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = CMSG_SPACE(numbers.size() * sizeof(int));
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(numbers.size() * sizeof(int));
  std::memcpy(CMSG_DATA(head), numbers.data(), numbers.size() * sizeof(int));
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

std::vector<Descriptor> receive_descriptors(int socket) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(most * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  ssize_t got;
  while ((got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
  std::vector<Descriptor> found;
  if (got != 1) return found;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; CMSG_LEN((at + 1) * sizeof(int)) <= head->cmsg_len; ++at) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(head) + at * sizeof(int), sizeof number);
      found.emplace_back(number);
    }
  }
  return found;
}

}  // namespace taskspec
