#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "ir/base/ascii.hpp"
#include "ir/base/text.hpp"
#include "ir/files/atomic_write.hpp"
#include "ir/files/formats.hpp"
#include "ir/files/input_file.hpp"

namespace taskspec {

namespace {

struct Table {
  std::vector<double> numbers;  // row by row
  std::size_t rows = 0, columns = 0;
};

std::string_view trimmed(std::string_view cell) {
  while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t')) cell.remove_suffix(1);
  return cell;
}

std::optional<double> number_in(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  return float_of(cell);
}

// RFC 4180: cells end at commas, rows at line ends; a quoted cell may hold both, and "" for a quote.
class Reader {
 public:
  Reader(std::string path, std::string_view text, std::string column)
      : path_(std::move(path)), text_(text), wanted_(std::move(column)) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = line_start_ = 3;  // byte order mark
  }

  Table read() {
    skip_header();
    if (!wanted_.empty()) choose_column();
    while (skip_blank_lines()) read_row();
    if (table_.rows == 0) throw unreadable(path_, "holds no numbers");
    return std::move(table_);
  }

 private:
  struct Cell {
    std::string_view text;
    std::size_t line, column;
    bool last;  // of its row
  };

  bool at_line_end() const { return at_ == text_.size() || text_[at_] == '\n' || text_[at_] == '\r'; }

  void pass_line_end() {
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    line_start_ = at_;
    ++line_;
  }

  bool skip_blank_lines() {
    while (at_ < text_.size() && at_line_end()) pass_line_end();
    return at_ < text_.size();
  }

  Error error(std::size_t line, std::size_t column, const std::string& what) const {
    return failure("E7003", {}, fmt::format("{}:{}:{}: {}", path_, line, column, what));
  }

  // The cell that begins here; leaves `at_` behind its comma or line end.
  Cell next_cell() {
    Cell cell{{}, line_, at_ - line_start_ + 1, false};
    if (at_ < text_.size() && text_[at_] == '"') {
      cell.text = quoted_cell(cell);
    } else {
      std::size_t begin = at_;
      while (!at_line_end() && text_[at_] != ',') ++at_;
      cell.text = text_.substr(begin, at_ - begin);
    }
    cell.last = at_line_end();
    if (cell.last)
      pass_line_end();
    else if (text_[at_] == ',')
      ++at_;
    else
      throw error(line_, at_ - line_start_ + 1, "expected ',' or a line end after the closing quote");
    return cell;
  }

  std::string_view quoted_cell(const Cell& cell) {
    unquoted_.clear();
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"' && (at_ + 1 == text_.size() || text_[at_ + 1] != '"')) return ++at_, unquoted_;
      if (text_[at_] == '"') ++at_;
      if (text_[at_] == '\n') ++line_, line_start_ = at_ + 1;
      unquoted_ += text_[at_];
    }
    throw error(cell.line, cell.column, "this quote is never closed");
  }

  // A first line without any number is a header. One with numbers and words is data with a mistake.
  void skip_header() {
    skip_blank_lines();
    std::size_t begin = at_, line = line_, line_start = line_start_;
    bool last = at_ == text_.size(), numbers = false;
    while (!last) {
      Cell cell = next_cell();
      numbers = numbers || number_in(cell.text);
      if (!wanted_.empty()) header_.emplace_back(trimmed(cell.text));
      last = cell.last;
    }
    if (!numbers) return;
    at_ = begin, line_ = line, line_start_ = line_start;
    header_.clear();
  }

  void choose_column() {
    if (header_.empty()) throw error(1, 1, "there is no header, so no column is called '" + wanted_ + "'");
    auto found = std::find(header_.begin(), header_.end(), wanted_);
    if (found == header_.end())
      throw error(1, 1, "no column is called '" + wanted_ + "'; there are " + listed(header_));
    column_ = static_cast<std::size_t>(found - header_.begin());
  }

  void read_row() {
    std::size_t columns = 0, line = line_;
    for (bool last = false; !last; ++columns) {
      Cell cell = next_cell();
      last = cell.last;
      if (column_ && columns != *column_) continue;  // of a table with other things than numbers beside it
      std::optional<double> number = number_in(cell.text);
      if (!number) throw not_a_number(cell);
      table_.numbers.push_back(*number);
    }
    if (column_ && columns <= *column_)
      throw error(
          line, 1,
          fmt::format("this row has {}, and '{}' is column {}", plural(columns, "cell"), wanted_, *column_ + 1));
    if (table_.rows++ == 0) table_.columns = columns;
    if (columns == table_.columns) return;
    throw error(line, 1, fmt::format("this row has {}, the first one has {}", plural(columns, "cell"), table_.columns));
  }

  Error not_a_number(const Cell& cell) const {
    std::string_view shown = trimmed(cell.text).substr(0, 40);
    if (shown.empty()) return error(cell.line, cell.column, "expected a number, the cell is empty");
    return error(cell.line, cell.column, fmt::format("expected a number, found '{}'", shown));
  }

  std::string path_;
  std::string_view text_;
  std::string wanted_;               // the name of a column; empty: all
  std::vector<std::string> header_;  // when a column is wanted
  std::optional<std::size_t> column_;
  std::size_t at_ = 0, line_ = 1, line_start_ = 0;
  std::string unquoted_;
  Table table_;
};

Table read_table(const std::string& path, const std::string& column) {
  std::string text = InputFile(path).read_all(memory_limit() / 4);  // the numbers need room beside the text
  return Reader(path, text, column).read();
}

ArrayType type_of(const Table& table, bool column) {
  if (column) return {Precision::f64, {static_cast<std::int64_t>(table.rows)}};
  return {Precision::f64, {static_cast<std::int64_t>(table.rows), static_cast<std::int64_t>(table.columns)}};
}

void append_element(std::string& out, const Array& array, std::int64_t position) {
  if (!is_float(array.precision()))
    out += array.integer_text(position);
  else if (std::isnan(array.number(position)))
    out += "nan";  // whose sign says nothing
  else if (array.precision() == Precision::f64)
    out += fmt::format("{}", array.number(position));
  else
    out += fmt::format("{}", static_cast<float>(array.number(position)));  // digits enough for this precision
}

}  // namespace

ArrayType probe_csv(const std::string& path, const FileQuery& query) {
  return type_of(read_table(path, query.name), !query.name.empty());
}

Array load_csv(const std::string& path, const FileQuery& query) {
  Table table = read_table(path, query.name);
  Array array = Array::make(type_of(table, !query.name.empty()));
  std::memcpy(array.raw(), table.numbers.data(), array.bytes());
  return array;
}

void save_csv(const Array& array, const std::string& path) {
  const Extents& extents = array.extents();
  if (extents.empty() || extents.size() > 2)
    throw failure("E7004", {},
                  fmt::format("cannot write '{}': a csv file holds rank 1 or 2, not {}", path, array.type().text()));
  AtomicFile file(path);
  std::int64_t columns = extents.size() == 2 ? extents[1] : 1;
  std::string out;
  for (std::int64_t row = 0, position = 0; row < extents[0]; ++row) {
    for (std::int64_t column = 0; column < columns; ++column, ++position) {
      if (column > 0) out += ',';
      append_element(out, array, position);
    }
    out += '\n';
    if (out.size() < (1 << 16)) continue;
    file.write(out);
    out.clear();
  }
  file.write(out);
  file.commit();
}

}  // namespace taskspec
