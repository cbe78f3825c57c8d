#include "interp/quantize/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace taskspec {

namespace {

class SampleReader {
 public:
  SampleReader(const std::vector<GraphInput>& inputs, FunctionRef<std::optional<Array>(const Value&)> contents,
               Span span)
      : inputs_(inputs), contents_(contents), span_(span) {}

  Samples read(const Value& data) {
    if (data.is_list())
      for (const Value& item : data.list()) batch(item);
    else
      batch(data);
    if (!samples_.labels.empty() && samples_.labels.size() != samples_.inputs.size())
      throw misfit("some batches have labels, and others have none");
    return std::move(samples_);
  }

 private:
  Error misfit(const std::string& text) const { return failure("E5004", span_, text); }

  Array tensor(const Value& value) const {
    if (std::optional<Array> array = contents_(value)) return *std::move(array);
    throw misfit("samples are tensors, tuples of them, or a list of such; there is " + print(value));
  }

  // One tensor for each input; behind them there may be labels.
  void batch(const Value& given) {
    std::vector<Array> tensors;
    if (given.is_tuple())
      for (const Value& part : given.tuple().items) tensors.push_back(tensor(part));
    else
      tensors.push_back(tensor(given));
    const bool labelled = tensors.size() == inputs_.size() + 1;
    if (tensors.size() != inputs_.size() && !labelled)
      throw misfit(fmt::format("a batch of samples has {} tensors; the net has {} inputs, and labels may follow",
                               tensors.size(), inputs_.size()));
    std::vector<std::vector<Array>> parts;
    for (std::size_t k = 0; k < inputs_.size(); ++k) parts.push_back(taken_apart(tensors[k], inputs_[k]));
    for (std::size_t k = 1; k < parts.size(); ++k)
      if (parts[k].size() != parts[0].size())
        throw misfit(fmt::format("there are {} samples of '{}' and {} of '{}'", parts[0].size(), inputs_[0].name,
                                 parts[k].size(), inputs_[k].name));
    const std::size_t count = parts.empty() ? 0 : parts[0].size();
    for (std::size_t sample = 0; sample < count; ++sample) {
      std::vector<Array>& all = samples_.inputs.emplace_back();
      for (const std::vector<Array>& of_input : parts) {
        all.push_back(of_input[sample]);
        const ArrayType& first = samples_.inputs[0][all.size() - 1].type();
        if (!(all.back().type() == first))
          throw misfit(
              fmt::format("samples have one shape: there is {} and {}", first.text(), all.back().type().text()));
      }
    }
    if (labelled) add_labels(tensors.back(), count);
  }

  void add_labels(const Array& labels, std::size_t count) {
    if (is_float(labels.precision()) || labels.elements() != static_cast<std::int64_t>(count))
      throw misfit(
          fmt::format("labels are one integer for each of {} samples, this is {}", count, labels.type().text()));
    for (std::int64_t k = 0; k < labels.elements(); ++k) samples_.labels.push_back(labels.integer(k));
  }

  // A net of batches takes batches of one; a net of single samples has an axis less than what is given.
  std::vector<Array> taken_apart(const Array& given, const GraphInput& input) const {
    const Extents& extents = given.extents();
    const Type& wanted = input.type;
    const bool batches = wanted.rank() == extents.size() && wanted.rank() > 0 && is_batch(wanted.dims[0]);
    const bool is_one = wanted.rank() == extents.size() && !batches;
    Extents sample = extents;
    if (batches) sample[0] = 1;
    if (!batches && !is_one && !sample.empty()) sample.erase(sample.begin());
    bool fits = given.precision() == wanted.precision && sample.size() == wanted.rank();
    for (std::size_t k = 0; fits && k < sample.size(); ++k)
      if (const auto extent = wanted.dims[k].constant()) fits = *extent == sample[k];
    if (!fits)
      throw misfit(fmt::format("samples of '{}' are {}, there is {}", input.name, wanted.text(), given.type().text()));
    if (is_one) return {given};
    std::vector<Array> parts;
    for (std::int64_t k = 0; k < extents[0]; ++k) {
      Array& part = parts.emplace_back(Array::make({given.precision(), sample}));
      std::memcpy(part.raw(), given.raw() + static_cast<std::size_t>(k) * part.bytes(), part.bytes());
    }
    return parts;
  }

  static bool is_batch(const Dim& dim) {
    const std::optional<std::int64_t> extent = dim.constant();
    return !extent || *extent == 1;
  }

  const std::vector<GraphInput>& inputs_;
  FunctionRef<std::optional<Array>(const Value&)> contents_;
  const Span span_;
  Samples samples_;
};

}  // namespace

Samples samples_of(const Value& data, const std::vector<GraphInput>& inputs,
                   FunctionRef<std::optional<Array>(const Value&)> contents, Span span) {
  return SampleReader(inputs, contents, span).read(data);
}

}  // namespace taskspec
