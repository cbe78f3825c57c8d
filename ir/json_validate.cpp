#include <fmt/format.h>

#include "ir/json_schema.hpp"

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

class Validator {
 public:
  Validator(const Schema& root, std::size_t most) : root_(root), start_(&root), most_(most) {}

  std::vector<std::string> run(const Json& value) {
    check(*start_, value, "");
    return std::move(faults_);
  }

 private:
  void say(const std::string& path, std::string what) {
    if (faults_.size() < most_) faults_.push_back(fmt::format("{}: {}", path.empty() ? "/" : path, what));
  }

  void check(const Schema& schema, const Json& value, const std::string& path) {
    if (faults_.size() >= most_) return;
    if (auto target = schema.find("$ref"); target != schema.end())
      return check(root_.at(Schema::json_pointer(target->get_ref<const std::string&>().substr(1))), value, path);
    if (auto choices = schema.find("anyOf"); choices != schema.end()) return check_any(*choices, value, path);
    if (auto type = schema.find("type"); type != schema.end() && !has_type(value, type->get_ref<const std::string&>()))
      return say(path, fmt::format("expected {}, found {}", type->get_ref<const std::string&>(), value.type_name()));
    if (auto constant = schema.find("const"); constant != schema.end() && constant->dump() != value.dump(-1, ' ', false, Json::error_handler_t::replace))
      say(path, fmt::format("expected {}", constant->dump()));
    if (auto words = schema.find("enum"); words != schema.end()) check_word(*words, value, path);
    if (auto least = schema.find("minimum"); least != schema.end() && value.is_number() && value.get<double>() < least->get<double>())
      say(path, fmt::format("expected at least {}", least->dump()));
    if (value.is_object()) check_object(schema, value, path);
    if (value.is_array()) check_list(schema, value, path);
  }

  // The faults of the choice that comes nearest would help little: the choices of our schema differ in kind.
  void check_any(const Schema& choices, const Json& value, const std::string& path) {
    for (const Schema& choice : choices)
      if (Validator(root_, choice).run(value).empty()) return;
    say(path, "fits none of the forms that it may have");
  }

  void check_word(const Schema& words, const Json& value, const std::string& path) {
    for (const Schema& word : words)
      if (value.is_string() && word == value.get_ref<const std::string&>()) return;
    say(path, fmt::format("expected one of {}", words.dump()));
  }

  void check_object(const Schema& schema, const Json& value, const std::string& path) {
    if (auto required = schema.find("required"); required != schema.end())
      for (const Schema& key : *required)
        if (!value.contains(key.get_ref<const std::string&>())) say(path, fmt::format("there is no {}", key.dump()));
    auto properties = schema.find("properties");
    auto others = schema.find("additionalProperties");
    for (const auto& [key, inner] : value.items()) {
      if (properties != schema.end() && properties->contains(key)) check((*properties)[key], inner, path + "/" + key);
      else if (others != schema.end()) check(*others, inner, path + "/" + key);
    }
  }

  void check_list(const Schema& schema, const Json& value, const std::string& path) {
    auto least = schema.find("minItems"), most = schema.find("maxItems"), items = schema.find("items");
    if (least != schema.end() && value.size() < least->get<std::size_t>()) say(path, "too few elements");
    if (most != schema.end() && value.size() > most->get<std::size_t>()) say(path, "too many elements");
    if (items == schema.end()) return;
    for (std::size_t i = 0; i < value.size(); ++i) check(*items, value[i], path + "/" + std::to_string(i));
  }

  // For one choice: references still lead into the whole schema.
  Validator(const Schema& root, const Schema& start) : root_(root), start_(&start), most_(1) {}

  const Schema& root_;
  const Schema* start_;
  std::size_t most_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> schema_faults(const nlohmann::ordered_json& schema, const nlohmann::json& value, std::size_t most) {
  return Validator(schema, most).run(value);
}

}  // namespace taskspec
