// Operators that pick, join and move parts of tensors.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "interp/import/onnx/conversion.hpp"

namespace taskspec::onnx {

namespace {

// ---- parts ----------------------------------------------------------------------------------------

void concat(Call& call) {
  std::vector<Term> parts;
  const std::int64_t axis = call.at(0).axis(call.integer("axis", 1));
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (call.at(i).rank() != call.at(0).rank()) call.fail("its inputs have different ranks");
    parts.push_back(call.x(i));
  }
  if (axis < 0 || axis >= static_cast<std::int64_t>(parts[0].rank())) call.fail("its axis lies outside of the shape");
  call.give(0, joined(parts, axis));
}

void split(Call& call) {
  const Term x = call.x(0);
  const std::int64_t axis = x.axis(call.integer("axis", 0));
  if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank())) call.fail("its axis lies outside of the shape");
  const Dim& whole = x.dims[static_cast<std::size_t>(axis)];
  const auto count = static_cast<std::int64_t>(call.node.outputs.size());
  Dims lengths;
  if (const std::optional<Numbers> given = call.integers("split")) {
    lengths.assign(given->begin(), given->end());
  } else if (call.has(1)) {
    lengths = call.extents(1);
  } else if (const std::optional<Dim> part = quotient(whole, Dim(count))) {
    lengths.assign(static_cast<std::size_t>(count), *part);
  } else {
    const std::int64_t length = call.extent(x, static_cast<std::size_t>(axis)), each = (length + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i)
      lengths.emplace_back(std::min(each, std::max<std::int64_t>(0, length - i * each)));
  }
  if (lengths.size() != call.node.outputs.size()) call.fail("it has not one length for each part");
  Dim from(0);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const Dim to = from + lengths[i];
    if (call.gives(i)) call.give(i, sliced(x, axis, from, to));
    from = to;
  }
}

// One axis of a Slice. Bounds beyond the end are the end; negative ones count from it.
Term sliced_axis(Call& call, const Term& x, std::int64_t axis, const Dim& start, const Dim& end, std::int64_t step) {
  step = std::clamp<std::int64_t>(step, -(std::int64_t{1} << 40), std::int64_t{1} << 40);  // so that sums with it fit
  const Dim& length = x.dims[static_cast<std::size_t>(axis)];
  const auto first = start.constant(), last = end.constant();
  if (step == 1 && (!first || !last || !length.is_constant())) {
    const Dim from = first && *first < 0 ? length + start : start;
    const bool whole = last && *last >= (std::int64_t{1} << 30);
    const Dim to = whole ? length : last && *last < 0 ? length + end : end;
    return sliced(x, axis, from, to);
  }
  const std::int64_t n = call.extent(x, static_cast<std::size_t>(axis));
  if (!first || !last) call.open("the bounds in its input", call.node.inputs.at(first ? 2 : 1));
  auto place = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    return std::max(low, std::min(high, at < 0 ? at + n : at));
  };
  if (step > 0) {
    const std::int64_t from = place(*first, 0, n), to = std::max(from, place(*last, 0, n));
    const Term part = sliced(x, axis, Dim(from), Dim(to));
    if (step == 1) return part;
    Numbers index;
    call.spend((to - from) / step);
    for (std::int64_t i = 0; i < to - from; i += step) index.push_back(i);
    return call.picked(part, index, axis);
  }
  const std::int64_t from = place(*first, -1, n - 1), to = *last < -n ? -1 : place(*last, -1, n - 1);
  Numbers index;
  call.spend((from - to) / -step);
  for (std::int64_t i = from; i > to; i += step) index.push_back(i);
  if (step == -1 && !index.empty()) return reversed(sliced(x, axis, Dim(to + 1), Dim(from + 1)), axis);
  return call.picked(x, index, axis);
}

void slice(Call& call) {
  Term x = call.x(0);
  const bool old = call.opset() < 10;
  auto listed = [&](std::size_t input, std::string_view name) {
    if (!old) return call.extents(input);
    const Numbers all = call.integers(name, {});
    return Dims(all.begin(), all.end());
  };
  const Dims starts = listed(1, "starts"), ends = listed(2, "ends");
  Numbers axes, steps(starts.size(), 1);
  if (old ? call.integers("axes").has_value() : call.has(3))
    axes = old ? *call.integers("axes") : call.numbers(3);
  else
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (!old && call.has(4)) steps = call.numbers(4);
  if (starts.size() != ends.size() || axes.size() != starts.size() || steps.size() != starts.size())
    call.fail("its lists have different lengths");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = x.axis(axes[i]);
    if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank()) || steps[i] == 0)
      call.fail("an axis lies outside of the shape, or a step is 0");
    x = sliced_axis(call, x, axis, starts[i], ends[i], steps[i]);
  }
  call.give(0, x);
}

// ---- by indices -----------------------------------------------------------------------------------

// Negative ones count from the end; known ones are changed at import.
Term from_start(Call& call, std::size_t input, const Dim& length) {
  const Term& index = call.at(input);
  if (const std::optional<Numbers> known = call.if_known(input)) {
    if (std::ranges::none_of(*known, [](std::int64_t at) { return at < 0; })) return call.x(input);
    if (length.is_constant()) {
      Term made;
      made.precision = index.precision;
      made.dims = index.dims;
      made.extents.emplace();
      for (const std::int64_t at : *known) made.extents->emplace_back(at < 0 ? at + *length.constant() : at);
      return call.all.written(made, call.node.shown());
    }
  }
  const Term own = call.x(input);
  return chosen(
      with_number(own, "<", 0),
      named(fmt::format("({} + {})", own.text, length.is_constant() ? length.text() : "(" + length.text() + ")"),
            own.precision, own.dims),
      own);
}

void gather(Call& call) {
  const Term x = call.x(0);
  const std::int64_t axis = x.axis(call.integer("axis", 0));
  if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank())) call.fail("its axis lies outside of the shape");
  const Dim& length = x.dims[static_cast<std::size_t>(axis)];
  // One known place is an index of the language.
  if (const std::optional<Numbers> known = call.if_known(1);
      known && known->size() == 1 && call.at(1).rank() == 0 && (known->front() >= 0 || length.is_constant())) {
    const std::int64_t at = known->front() < 0 ? known->front() + *length.constant() : known->front();
    call.give(0, dropped(sliced(x, axis, Dim(at), Dim(at + 1)), {axis}));
    return;
  }
  call.give(0, gathered(x, from_start(call, 1, length), axis));
}

// Places of a tensor's elements in a list of all of them, by their places along each axis.
Term place_along(const Dims& dims, std::size_t axis, std::size_t rank) {
  Dims line(rank, Dim(1));
  line[axis] = dims[axis];
  return reshaped(named(fmt::format("iota({})", dims[axis].text()), Precision::i64, {dims[axis]}), line);
}

Dim step_of(const Dims& dims, std::size_t axis) {
  return product({dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims.end()});
}

Term times(const Term& x, const Dim& by) {
  return by == Dim(1) ? x
                      : named(fmt::format("({} * {})", x.text, by.is_constant() ? by.text() : "(" + by.text() + ")"),
                              x.precision, x.dims);
}

// For each element of index: its own place, but along `axis` that which it says.
Term places_of_elements(Call& call, const Term& x, std::size_t input, std::size_t axis) {
  const Term index = cast(from_start(call, input, x.dims[axis]), Precision::i64);
  Term place = times(index, step_of(x.dims, axis));
  for (std::size_t i = 0; i < x.rank(); ++i)
    if (i != axis) place = binary(place, "+", times(place_along(index.dims, i, x.rank()), step_of(x.dims, i)));
  return place;
}

void gather_elements(Call& call) {
  const Term x = call.x(0);
  const std::int64_t axis = x.axis(call.integer("axis", 0));
  if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank()) || call.at(1).rank() != x.rank())
    call.fail("its axis lies outside of the shape");
  const Term place = places_of_elements(call, x, 1, static_cast<std::size_t>(axis));
  call.give(0, gathered(reshaped(x, {product(x.dims)}), place, 0));
}

// Places in a list of all elements, of index [..., k]: the first k axes after `batch` ones.
Term places_of_tuples(Call& call, const Term& x, const Term& index, std::size_t batch) {
  const std::int64_t k = call.extent(index, index.rank() - 1);
  const std::size_t last = index.rank() - 1;
  std::optional<Term> place;
  for (std::int64_t i = 0; i < k; ++i) {
    const std::size_t axis = batch + static_cast<std::size_t>(i);
    Term own = call.let(
        dropped(sliced(index, static_cast<std::int64_t>(last), Dim(i), Dim(i + 1)), {static_cast<std::int64_t>(last)}));
    const Dim& n = x.dims[axis];
    own = chosen(with_number(own, "<", 0), named(fmt::format("({} + {})", own.text, n.text()), own.precision, own.dims),
                 own);
    Dim step(1);
    for (std::size_t j = axis + 1; j < batch + static_cast<std::size_t>(k); ++j) step = step * x.dims[j];
    place = place ? binary(*place, "+", times(own, step)) : times(own, step);
  }
  return *place;
}

void gather_nd(Call& call) {
  const Term x = call.x(0), index = call.x(1);
  const auto batch = static_cast<std::size_t>(call.integer("batch_dims", 0));
  const auto k = static_cast<std::size_t>(call.extent(index, index.rank() - 1));
  if (k == 0 || batch + k > x.rank() || batch >= index.rank()) call.fail("its indices do not fit the shape");
  Term place = places_of_tuples(call, x, index, batch);
  const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
  Dim pieces = product({x.dims.begin() + at(batch), x.dims.begin() + at(batch + k)});
  // Of a batch each begins further on.
  for (std::size_t i = 0; i < batch; ++i) {
    Dim step = pieces;
    for (std::size_t j = i + 1; j < batch; ++j) step = step * x.dims[j];
    place = binary(place, "+", times(place_along(place.dims, i, place.rank()), step));
  }
  Dims flat{product({x.dims.begin(), x.dims.begin() + at(batch + k)})};
  flat.insert(flat.end(), x.dims.begin() + at(batch + k), x.dims.end());
  call.give(0, gathered(reshaped(x, flat), place, 0));
}

// What is written replaces what was there: the old is taken away at these places, the new added. Where two write to one
// place the format leaves open which wins, so both may not.
Term written_at(const Term& flat, const Term& place, const Term& updates, const std::string& reduction) {
  if (reduction == "add")
    return named(fmt::format("{}.scatter_add({}, {}, 0)", flat.text, place.text, updates.text), flat.precision,
                 flat.dims);
  const Term old = gathered(flat, place, 0);
  return named(fmt::format("{}.scatter_add({}, {} - {}, 0)", flat.text, place.text, updates.text, old.text),
               flat.precision, flat.dims);
}

void scatter_elements(Call& call) {
  const Term x = call.x(0);
  const std::int64_t axis = x.axis(call.integer("axis", 0));
  if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank()) || call.at(1).rank() != x.rank())
    call.fail("its axis lies outside of the shape");
  const std::string reduction = call.text("reduction", "none");
  if (reduction != "none" && reduction != "add") call.fail("it combines by '" + reduction + "'");
  const Term place = places_of_elements(call, x, 1, static_cast<std::size_t>(axis));
  const Dim count = product(place.dims);
  const Term flat = call.let(reshaped(x, {product(x.dims)}));
  const Term made = written_at(flat, call.let(reshaped(place, {count})), reshaped(call.x(2), {count}), reduction);
  call.give(0, reshaped(made, x.dims));
}

void scatter_nd(Call& call) {
  const Term x = call.x(0), index = call.x(1);
  const auto k = static_cast<std::size_t>(call.extent(index, index.rank() - 1));
  const std::string reduction = call.text("reduction", "none");
  if (k == 0 || k > x.rank()) call.fail("its indices do not fit the shape");
  if (reduction != "none" && reduction != "add") call.fail("it combines by '" + reduction + "'");
  const Term place = places_of_tuples(call, x, index, 0);
  const auto at = static_cast<std::ptrdiff_t>(k);
  const Dim count = product(place.dims);
  Dims flat{product({x.dims.begin(), x.dims.begin() + at})}, rows{count};
  flat.insert(flat.end(), x.dims.begin() + at, x.dims.end());
  rows.insert(rows.end(), x.dims.begin() + at, x.dims.end());
  const Term made =
      written_at(call.let(reshaped(x, flat)), call.let(reshaped(place, {count})), reshaped(call.x(2), rows), reduction);
  call.give(0, reshaped(made, x.dims));
}

// ---- borders --------------------------------------------------------------------------------------

// The places that a border of these lengths shows, inside of 0..n.
Numbers border_places(Call& call, std::int64_t n, std::int64_t before, std::int64_t after, const std::string& mode) {
  Numbers index;
  if (n == 0) call.fail("it takes a border from nothing");
  call.spend(before);
  call.spend(after);
  call.spend(n);
  for (std::int64_t i = -before; i < n + after; ++i) {
    std::int64_t at = i;
    if (mode == "edge") {
      at = std::clamp<std::int64_t>(i, 0, n - 1);
    } else if (mode == "wrap") {
      at = ((i % n) + n) % n;
    } else if (n > 1) {
      at = (i % (2 * n - 2) + 2 * n - 2) % (2 * n - 2);
      at = std::min(at, 2 * n - 2 - at);
    } else {
      at = 0;
    }
    index.push_back(at);
  }
  return index;
}

void pad(Call& call) {
  Term x = call.x(0);
  const bool old = call.opset() < 11;
  const std::string mode = call.text("mode", "constant");
  const bool open = !old && mode == "constant" && call.at(1).extents && !call.if_known(1);
  const Numbers given = old    ? call.integers(call.opset() < 2 ? "paddings" : "pads", {})
                        : open ? Numbers{}
                               : call.numbers(1);
  const Dims lengths = open ? call.extents(1) : Dims(given.begin(), given.end());
  Numbers axes;
  if (call.has(3))
    axes = call.numbers(3);
  else
    for (std::size_t i = 0; i < x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (lengths.size() != 2 * axes.size()) call.fail("it has not two numbers for each axis");
  std::string value;
  if (mode == "constant" && old) value = literal(call.real("value", 0), x.precision);
  if (mode == "constant" && !old && call.has(2)) value = literal(call.number(2), x.precision);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = x.axis(axes[i]);
    if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank())) call.fail("an axis lies outside of the shape");
    if (open) {  // then they are lengths: what is negative ends with an error when it runs
      x = padded(x, axis, lengths[i], lengths[i + axes.size()], value);
      continue;
    }
    // Negative ones take away.
    const std::int64_t before = given[i], after = given[i + axes.size()];
    if (before < 0 || after < 0)
      x = sliced(x, axis, Dim(std::max<std::int64_t>(0, -before)),
                 x.dims[static_cast<std::size_t>(axis)] - Dim(std::max<std::int64_t>(0, -after)));
    const std::int64_t more = std::max<std::int64_t>(0, before), behind = std::max<std::int64_t>(0, after);
    if (more == 0 && behind == 0) continue;
    if (mode == "constant")
      x = padded(x, axis, more, behind, value);
    else
      x = call.picked(x, border_places(call, call.extent(x, static_cast<std::size_t>(axis)), more, behind, mode), axis);
  }
  call.give(0, x);
}

// ---- triangles, sums along an axis ----------------------------------------------------------------

void trilu(Call& call) {
  const Term x = call.x(0);
  if (x.rank() < 2) call.fail("its input is no matrix");
  const std::int64_t k = call.has(1) ? static_cast<std::int64_t>(call.number(1)) : 0;
  const Dim &rows = x.dims[x.rank() - 2], &columns = x.dims.back();
  const Term row =
      named(fmt::format("(iota({}).lift(1) + {})", rows.text(), literal(static_cast<double>(k), Precision::i64)),
            Precision::i64, {rows, Dim(1)});
  const Term column = named(fmt::format("iota({}).lift(0)", columns.text()), Precision::i64, {Dim(1), columns});
  const Term stays = compared(column, call.integer("upper", 1) != 0 ? ">=" : "<=", row);
  call.give(0, chosen(stays, x, named(literal(0, x.precision), x.precision, {})));
}

// A product with a triangle of ones.
void cumulative_sum(Call& call) {
  const Term x = call.x(0);
  const std::int64_t axis = x.axis(static_cast<std::int64_t>(call.number(1)));
  if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank())) call.fail("its axis lies outside of the shape");
  const Dim& n = x.dims[static_cast<std::size_t>(axis)];
  const bool reverse = call.integer("reverse", 0) != 0, exclusive = call.integer("exclusive", 0) != 0;
  const Term from = named(fmt::format("iota({}).lift(1)", n.text()), Precision::i64, {n, Dim(1)});
  const Term to = named(fmt::format("iota({}).lift(0)", n.text()), Precision::i64, {Dim(1), n});
  const std::string sign = std::string(reverse ? ">" : "<") + (exclusive ? "" : "=");
  const Term ones = cast(compared(from, sign, to), x.precision);
  Numbers turn;
  for (std::size_t i = 0; i < x.rank(); ++i) turn.push_back(static_cast<std::int64_t>(i));
  std::swap(turn[static_cast<std::size_t>(axis)], turn.back());
  call.give(0, permuted(product_of(permuted(x, turn), ones), turn));
}

void reverse_sequence(Call& call) {
  const Term x = call.x(0);
  const std::int64_t time = call.integer("time_axis", 0), batch = call.integer("batch_axis", 1);
  const Numbers lengths = call.numbers(1), shape = call.shape(x);
  if (time + batch != 1 || x.rank() < 2 ||
      static_cast<std::int64_t>(lengths.size()) != shape[static_cast<std::size_t>(batch)])
    call.fail("its axes do not fit the shape");
  std::vector<Term> parts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Numbers index;
    const std::int64_t n = shape[static_cast<std::size_t>(time)];
    if (lengths[i] < 0 || lengths[i] > n) call.fail("a sequence is longer than the time");
    call.spend(n);
    for (std::int64_t t = 0; t < n; ++t) index.push_back(t < lengths[i] ? lengths[i] - 1 - t : t);
    const auto at = static_cast<std::int64_t>(i);
    parts.push_back(call.picked(sliced(x, batch, Dim(at), Dim(at + 1)), index, time));
  }
  call.give(0, joined(parts, batch));
}

constexpr std::array movement_rows{
    Operator{"Concat", 1, any, concat},
    Operator{"CumSum", 11, any, cumulative_sum},
    Operator{"Gather", 1, any, gather},
    Operator{"GatherElements", 11, any, gather_elements},
    Operator{"GatherND", 11, any, gather_nd},
    Operator{"Pad", 1, any, pad},
    Operator{"ReverseSequence", 10, any, reverse_sequence},
    Operator{"Scatter", 9, any, scatter_elements},
    Operator{"ScatterElements", 11, any, scatter_elements},
    Operator{"ScatterND", 11, any, scatter_nd},
    Operator{"Slice", 1, any, slice},
    Operator{"Split", 1, any, split},
    Operator{"Trilu", 14, any, trilu},
};

}  // namespace

std::span<const Operator> movement_operators() { return movement_rows; }

}  // namespace taskspec::onnx
