#include "interp/control/letters.hpp"

namespace taskspec {

const std::vector<std::size_t>& Letters::of(const Value& text) {
  const std::string& bytes = text.string();
  for (const Known& known : known_)
    if (known.text.is_string() && &known.text.string() == &bytes) return known.starts;
  Known& known = known_[next_];
  next_ = (next_ + 1) % known_.size();
  known.text = text;
  known.starts.clear();
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if ((static_cast<unsigned char>(bytes[i]) & 0xC0) != 0x80) known.starts.push_back(i);
  known.starts.push_back(bytes.size());
  counted_ += bytes.size();
  return known.starts;
}

}  // namespace taskspec
