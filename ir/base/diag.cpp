#include "ir/base/diag.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace taskspec {

Diag::Diag(Code c, Severity s, Span span, std::string text)
    : code(c), severity(s), message(std::move(text)), primary{span, ""} {}
Diag::Diag(const Diag&) = default;
Diag::Diag(Diag&&) noexcept = default;
Diag& Diag::operator=(const Diag&) = default;
Diag& Diag::operator=(Diag&&) noexcept = default;
Diag::~Diag() = default;

Diag& Diag::at(std::string text) { return primary.text = std::move(text), *this; }
Diag& Diag::label(Span span, std::string text) { return labels.push_back({span, std::move(text)}), *this; }
Diag& Diag::note(std::string text) { return notes.push_back(std::move(text)), *this; }
Diag& Diag::help(std::string text) { return help_text = std::move(text), *this; }

Diags::Diags(const Diags& other) : items_(other.items_ ? std::make_unique<std::deque<Diag>>(*other.items_) : nullptr) {}
Diags::Diags(Diags&&) noexcept = default;
Diags& Diags::operator=(const Diags& other) { return *this = Diags(other); }
Diags& Diags::operator=(Diags&&) noexcept = default;
Diags::~Diags() = default;

Error::Error(const Error&) = default;
Error::~Error() = default;

const std::deque<Diag>& Diags::items() const {
  static const std::deque<Diag> none;
  return items_ ? *items_ : none;
}

std::deque<Diag>& Diags::list() {
  if (!items_) items_ = std::make_unique<std::deque<Diag>>();
  return *items_;
}

void Diags::add(Diag diag) { list().push_back(std::move(diag)); }

std::string Code::text() const {
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, "E%04u", static_cast<unsigned>(number_));
  return buffer;
}

Diag& Diags::error(Code code, Span span, std::string message) {
  return list().emplace_back(code, Severity::error, span, std::move(message));
}

Diag& Diags::warning(Code code, Span span, std::string message) {
  return list().emplace_back(code, Severity::warning, span, std::move(message));
}

void Diags::append(const Diags& other) {
  if (!other.empty()) list().insert(list().end(), other.items_->begin(), other.items_->end());
}

bool Diags::has_errors() const {
  return std::any_of(items().begin(), items().end(), [](const Diag& d) { return d.severity == Severity::error; });
}

std::vector<Diag> Diags::sorted() const {
  std::vector<Diag> result(items().begin(), items().end());
  std::stable_sort(result.begin(), result.end(), [](const Diag& a, const Diag& b) {
    return std::pair(a.primary.span.source.value, a.primary.span.begin) <
           std::pair(b.primary.span.source.value, b.primary.span.begin);
  });
  return result;
}

namespace {
Diags one(Diag diag) {
  Diags diags;
  diags.add(std::move(diag));
  return diags;
}
}  // namespace

Error::Error(Diags diags) : diags_(std::move(diags)) {
  for (const Diag& d : diags_.items()) text_ += (text_.empty() ? "" : "\n") + d.code.text() + " " + d.message;
}

Error::Error(Diag diag) : Error(one(std::move(diag))) {}

Error failure(Code code, Span span, std::string message) {
  return Error(Diag(code, Severity::error, span, std::move(message)));
}

void bug(std::string_view what, const char* file, int line) {
  std::fprintf(stderr, "taskspec: internal error: %.*s (%s:%d)\n", static_cast<int>(what.size()), what.data(), file,
               line);
  std::fprintf(stderr, "this is our mistake, not yours; please report it with the program that led here\n");
  std::fflush(nullptr);
  std::_Exit(70);
}

}  // namespace taskspec
