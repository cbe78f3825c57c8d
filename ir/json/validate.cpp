#include <fmt/format.h>

#include <algorithm>

#include "ir/json/schema.hpp"

namespace taskspec {

namespace {

using Json = nlohmann::json;
using Schema = nlohmann::ordered_json;

bool has_type(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return type == "null" && value.is_null();
}

// A list of what is still to be looked at instead of recursion: files may be nested thousands of levels deep.
class Validator {
 public:
  Validator(const Schema& root, std::size_t most) : root_(root), most_(most) {}

  std::vector<std::string> run(const Schema& schema, const Json& value) {
    todo_.push_back({&schema, &value, ""});
    while (!todo_.empty() && faults_.size() < most_) {
      Task task = std::move(todo_.back());
      todo_.pop_back();
      std::size_t before = todo_.size();
      check(*task.schema, *task.value, task.path);
      std::reverse(todo_.begin() + static_cast<std::ptrdiff_t>(before), todo_.end());
    }
    return std::move(faults_);
  }

 private:
  struct Task {
    const Schema* schema;
    const Json* value;
    std::string path;
  };

  void say(const std::string& path, const std::string& what) {
    if (faults_.size() < most_) faults_.push_back((path.empty() ? "/" : path) + ": " + what);
  }

  void check(const Schema& schema, const Json& value, const std::string& path) {
    if (auto target = schema.find("$ref"); target != schema.end()) {
      std::string pointer = target->get<std::string>().substr(1);
      return check(root_.at(Schema::json_pointer(pointer)), value, path);
    }
    if (auto choices = schema.find("anyOf"); choices != schema.end()) return check_any(*choices, value, path);
    if (auto type = schema.find("type"); type != schema.end() && !has_type(value, type->get_ref<const std::string&>()))
      return say(path, fmt::format("expected {}, found {}", type->get_ref<const std::string&>(), value.type_name()));
    if (auto constant = schema.find("const"); constant != schema.end())
      check_word(Schema::array({*constant}), value, path);
    if (auto words = schema.find("enum"); words != schema.end()) check_word(*words, value, path);
    if (auto least = schema.find("minimum"); least != schema.end() && value.get<double>() < least->get<double>())
      say(path, "expected at least " + least->dump());
    if (value.is_object()) check_object(schema, value, path);
    if (value.is_array()) check_list(schema, value, path);
  }

  // What is wrong with the nearest choice would help little: the choices of our schema differ in kind.
  void check_any(const Schema& choices, const Json& value, const std::string& path) {
    for (const Schema& choice : choices)
      if (Validator(root_, 1).run(choice, value).empty()) return;
    say(path, "fits none of the forms that it may have");
  }

  // Words and small numbers.
  void check_word(const Schema& words, const Json& value, const std::string& path) {
    for (const Schema& word : words) {
      if (word.is_string() && value.is_string() &&
          word.get_ref<const std::string&>() == value.get_ref<const std::string&>())
        return;
      if (word.is_number() && value.is_number() && word.get<double>() == value.get<double>()) return;
    }
    say(path, words.size() == 1 ? "expected " + words[0].dump() : "expected one of " + words.dump());
  }

  void check_object(const Schema& schema, const Json& value, const std::string& path) {
    if (auto required = schema.find("required"); required != schema.end())
      for (const Schema& key : *required)
        if (!value.contains(key.get_ref<const std::string&>())) say(path, "there is no " + key.dump());
    auto properties = schema.find("properties"), others = schema.find("additionalProperties");
    for (const auto& [key, inner] : value.items()) {
      const Schema* rule = others == schema.end() ? nullptr : &*others;
      if (properties != schema.end())
        if (auto known = properties->find(key); known != properties->end()) rule = &*known;
      if (rule && !rule->empty()) todo_.push_back({rule, &inner, path + "/" + key});
    }
  }

  void check_list(const Schema& schema, const Json& value, const std::string& path) {
    auto least = schema.find("minItems"), most = schema.find("maxItems"), items = schema.find("items");
    if (least != schema.end() && value.size() < least->get<std::size_t>()) say(path, "too few elements");
    if (most != schema.end() && value.size() > most->get<std::size_t>()) say(path, "too many elements");
    if (items == schema.end() || items->empty()) return;
    for (std::size_t i = 0; i < value.size(); ++i)
      todo_.push_back({&*items, &value[i], path + "/" + std::to_string(i)});
  }

  const Schema& root_;
  std::size_t most_;
  std::vector<Task> todo_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> schema_faults(const nlohmann::ordered_json& schema, const nlohmann::json& value,
                                       std::size_t most) {
  return Validator(schema, most).run(schema, value);
}

}  // namespace taskspec
