#include "frontend/check/foreign.hpp"

#include <span>

#include "frontend/foreign_word.hpp"
#include "frontend/parse_foreign.hpp"

namespace taskspec::checking {

namespace {

struct Foreign {
  std::string_view words;  // several, with blanks around each
  std::string_view help;
};

std::string_view find_foreign(std::span<const Foreign> table, std::string_view name) {
  if (name.empty() || name.find(' ') != std::string_view::npos) return {};
  for (const Foreign& row : table)
    for (std::size_t at = row.words.find(name); at != std::string_view::npos; at = row.words.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      const bool begins = at > 0 && row.words[at - 1] == ' ';
      if (begins && end < row.words.size() && row.words[end] == ' ') return row.help;
    }
  return {};
}

constexpr std::string_view agents_of_nn = "import nn; nn.Linear(4, 2) is a layer, and taskspec doc nn lists them";
constexpr std::string_view no_library =
    "ops need no module: sqrt(x), fill(f32[3], 0.0), x.sum(0); taskspec doc lists them";

constexpr Foreign unknown_names[] = {
    {" str String to_string toString repr ", "format(\"{}\", x) makes a text of a value, and print writes any value"},
    {" int Int ", "a conversion is written with 'as': x as int; of a text parse_int(s)"},
    {" float Float double ", "a conversion is written with 'as': x as float; of a text parse_float(s)"},
    {" bool Bool ", "a comparison gives a bool: x != 0"},
    {" list array vector Array List ", "a list is written [1, 2], a tensor [1.0, 2.0] as f32[2]"},
    {" dict Dict map_of ", "there are no maps; a list of pairs: [(\"a\", 1)]"},
    {" set Set ", "there are no sets; filter and sort work on lists"},
    {" tuple ", "a tuple is written (1, \"a\")"},
    {" True ", "it is written true"},
    {" False ", "it is written false"},
    {" length size count numel ", "len(l) is the length of a list; x.shape has the extents of a tensor"},
    {" nn ", "import nn brings in layers: nn.Linear(4, 2)"},
    {" None nil nullptr NULL undefined nothing ",
     "there is no empty value: give every name a value, or keep a list, which may be empty"},
    {" zeros zeros_like ", "fill(f32[2, 3], 0.0) makes a tensor of zeros"},
    {" ones ones_like ", "fill(f32[2, 3], 1.0) makes a tensor of ones"},
    {" full empty empty_like full_like ", "fill(f32[2, 3], 1.0) makes a tensor of one value"},
    {" rand ", "uniform(f32[3], seed: 1) makes random numbers in 0..1"},
    {" randn ", "normal(f32[3], seed: 1) makes normal random numbers"},
    {" random randint rnd ", "uniform(f32[3], seed: 1) makes random numbers; x.scalar receives one"},
    {" arange ", "iota(n) is 0, 1, ... as i64[n], and range(a, b, step) a list"},
    {" linspace ", "iota(n) as f32 * step makes equal steps"},
    {" eye identity ", "one_hot(iota(n), n) has ones on its diagonal"},
    {" cat concatenate vcat hcat hstack vstack ", "concat([a, b], 0) joins along axis 0"},
    {" stack ", "lift adds an axis, and concat joins: concat([a.lift(0), b.lift(0)], 0)"},
    {" einsum ", "a @ b is the matrix product; permute, lift and sum do the rest"},
    {" dot mm bmm ", "a @ b is the matrix product"},
    {" self this ", "inside of an agent its slots and parameters are named as they are: w"},
    {" pass ", "a block may be empty: { }"},
    {" println printf puts echo cout fprintf ",
     "print(a, b) writes values and a line end; format(\"{:.2f}\", x) lays out"},
    {" console std System fmt ", "print(a, b) writes values and a line end"},
    {" input ", "args() has the words of the command line, read(path) the text of a file, and -D sets a let"},
    {" open ", "read(path) is the text of a file, load(f32[_, 3], path) a tensor"},
    {" sorted ", "sort(l) gives a sorted list"},
    {" reversed ", "map(range(0, len(l)), i => l[len(l) - 1 - i]) turns a list round; x.reverse(0) a tensor"},
    {" math Math cmath jnp np numpy torch tf jax pd F ", no_library},
    {" type typeof isinstance ", "types are known before the program runs; taskspec doc TYPE, :type x at the prompt"},
    {" time now perf_counter ", "clock() gives seconds"},
    {" any ", "(x as i32).max() of a bool tensor is 1 where one holds; of a list: len(filter(l, x => x)) > 0"},
    {" all ", "(x as i32).min() of a bool tensor is 1 where all hold; of a list: len(filter(l, x => !x)) == 0"},
    {" optim optimizer SGD Adam AdamW ",
     "sgd(lr: 0.1), adam(lr: 0.001) and adamw go into train(net, loss: \"mse_avg\", optimizer: ...)"},
    {" Linear Dense Conv2d Conv2D Embedding LayerNorm BatchNorm Module Sequential Dropout ", agents_of_nn},
    {" ReLU ", "relu(x) is an op"},
    {" Softmax ", "softmax(x) is an op"},
    {" Tensor Variable ", "[1.0, 2.0] as f32[2] makes a tensor"},
    {" zero constant truncated_normal glorot_uniform glorot_normal kaiming_normal ",
     "an initialiser stands behind a slot of an agent only; fill(f32[4], 0.0) makes a tensor"},
    {" f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 ",
     "a precision is a type: [1.0, 2.0] as f32[2], x as f32, fill(f32[2], 0.0)"},
    {" sum_of reduce fold foldl accumulate ", "sum(l) adds a list; a loop with a var does any other"},
    {" raise throw panic error ", "assert(false, \"why\") ends the program with a message"},
    {" not ", "it is written !a"},
    {" lambda ", "x => x + 1 makes a function where one is taken: map(l, x => x + 1)"},
    {" no_grad grad autograd ",
     "train(net, loss: ..., optimizer: ...) learns; m.grad(\"w\") is a gradient: taskspec doc gradients"},
    {" device cuda cpu gpu ", "a backend is chosen by run .. on host, or by --on"},
};

constexpr Foreign prompt_words[] = {
    {" help man h ", ":help lists the commands of the prompt, and ?NAME explains a name"},
    {" quit exit bye q ", ":quit leaves the prompt, as Ctrl-D does"},
    {" reset clear ", ":reset forgets everything"},
    {" who whos ls dir vars ", "Tab lists the names, and ?NAME explains one"},
};

constexpr Foreign unknown_types[] = {
    {" double Double Float real ", "float is the host's; of a tensor f64[2]"},
    {" Tensor tensor Array ndarray ", "a tensor type is a precision with extents: f32[N, 3]"},
    {" List list vector Vec ", "a list type is written [int]"},
    {" Tuple tuple pair ", "a tuple type is written (int, string)"},
    {" str String Str ", "it is called string"},
    {" Int integer long short char size_t int64 int32 Integer ", "it is called int; of a tensor i64[2], i32[2]"},
    {" boolean Bool ", "it is called bool"},
    {" None void Void unit Nothing ", "leave '-> ...' out: the fn returns nothing"},
    {" Callable Function function ", "a function type is written fn(int) -> int"},
    {" auto any Any ", "parameters have types: int, float, string, [int], f32[N]"},
    {" float32 Float32 half ", "it is called f32; f16 and f64 are the others"},
    {" dict Dict map ", "there are no maps; a list of pairs: [(string, int)]"},
    {" Optional Union ", "each name has one type; what may be missing is a list, which may be empty"},
};

constexpr Foreign unknown_modules[] = {
    {" torch tensorflow jax numpy np math random cmath ",
     "ops need no module: sqrt(x), uniform(f32[3], seed: 1); layers are in nn: import nn"},
    {" os sys time pathlib ", "args(), env(name), read(path), write(path, text) and clock() need no module"},
    {" matplotlib ", "show(x) draws a tensor in the terminal, and --report writes a page"},
};

constexpr Foreign list_members[] = {
    {" append push push_back add push! ", "l += [x] adds to a list that is a var"},
    {" extend concat ", "l += m joins another list"},
    {" insert ", "l = l[..i] + [x] + l[i..] puts x in"},
    {" pop remove pop_back erase del ", "l = l[..len(l) - 1] takes the last one off"},
    {" clear ", "l = l[..0] makes it empty"},
    {" length size count ", "len(l) is the length"},
    {" index find contains includes indexOf ", "filter(enumerate(l), (i, x) => x == y) finds items with their places"},
    {" first front ", "l[0] is the first"},
    {" last back ", "l[len(l) - 1] is the last"},
    {" sorted ", "sort(l) gives a sorted list"},
    {" shape ", "len(l) is the length; a list becomes a tensor by l as f32[3]"},
    {" copy clone ", "lists are values: let m = l is a copy"},
    {" items keys values ", "a list of pairs is run over by for (k, v) in l"},
    {" mean std var ", "sum(l) / len(l), or a tensor: (l as f32[3]).mean(0)"},
};

constexpr Foreign string_members[] = {
    {" length size count ", "len(s) is the number of its code points"},
    {" upper lower strip trim lstrip rstrip replace capitalize ",
     "texts know +, ==, [a..b], len, split, join and format; this one is written by these"},
    {" format ", "format(\"{} of {}\", a, b) is a function"},
    {" startswith starts_with ", "s[..2] == \"ab\" compares the beginning"},
    {" endswith ends_with ", "s[len(s) - 2..] == \"ab\" compares the end"},
    {" find index contains includes ", "len(split(s, \"x\")) > 1 tells whether x is in s"},
    {" append concat ", "s += \"more\" joins, of a var"},
    {" encode decode ", "a text is UTF-8, and s[i] one code point of it"},
};

constexpr Foreign tensor_members[] = {
    {" T mT t transpose ", "x.permute(1, 0) exchanges two axes"},
    {" view reshape_as ravel flatten resize ", "x.reshape(2, -1) gives the elements another shape"},
    {" size dims ", "x.shape is the list of its extents, x.shape[0] the first"},
    {" dtype element_type eltype ", "x.precision is its name; x as f32 converts"},
    {" ndim dim ndims ", "x.rank is the number of axes"},
    {" numel length len ", "x.shape has the extents: x.shape[0] * x.shape[1]"},
    {" squeeze ", "x.drop(axis) removes an axis of extent 1"},
    {" unsqueeze expand_dims ", "x.lift(axis) adds an axis of extent 1"},
    {" to cuda cpu device gpu ", "a backend is chosen by run .. on host; x as f32 converts a precision"},
    {" float double half int long bool astype type cast short ", "a conversion is written with 'as': x as f32"},
    {" detach requires_grad requires_grad_ no_grad clone contiguous ",
     "tensors are values without a gradient of their own: leave it out"},
    {" backward grad zero_grad ", "train(net, loss: ..., optimizer: ...) learns: taskspec doc gradients"},
    {" dot mm bmm matmul_ ", "a @ b is the matrix product"},
    {" std var ", "((x - x.mean(0)) * (x - x.mean(0))).mean(0) is the variance"},
    {" norm ", "(x * x).sum().sqrt() is the norm"},
    {" any ", "(x as i32).max() is 1 where one holds"},
    {" all ", "(x as i32).min() is 1 where all hold"},
    {" clip clamp_ ", "x.clamp(lo, hi) bounds the elements"},
    {" repeat ", "x.tile(axis, n) repeats along an axis"},
    {" expand broadcast_to expand_as ",
     "x.broadcast(2, 3) repeats axes of extent 1; operators broadcast by themselves"},
    {" item ", "the value of a tensor of one element is received with .scalar"},
    {" numpy tolist to_list list collect values data ", "the elements of a tensor are received with .array, as a list"},
    {" append push push_back ", "concat([x, y], 0) joins tensors"},
    {" add_ mul_ sub_ div_ copy_ fill_ ", "tensors do not change: x = x + y of a var makes a new one"},
    {" masked_fill ", "where(c, a, b) chooses element by element"},
    {" index_select take ", "gather(x, index, axis) picks by a tensor of indices"},
    {" sort argsort ", "x.topk(k, axis) gives the largest with their indices, in order"},
    {" plot imshow ", "show(x) draws a tensor in the terminal"},
    {" swapaxes moveaxis ", "x.permute(1, 0) orders the axes anew"},
    {" apply map ", "operators and ops work element by element: relu(x * 2.0)"},
    {" run eval value get wait result compute block_until_ready ", ".scalar and .array receive what it computes"},
};

constexpr Foreign agent_members[] = {
    {" __call__ call ", "call the task by its name: net.forward(x)"},
    {" parameters state_dict weights ",
     "save(net, \"net.npz\") writes its slots; train(net, ...).weight(\"w\") is one"},
    {" train fit ", "train(net, loss: ..., optimizer: ...) makes one that learns"},
    {" eval ", "train(net, ...) gives m, and m.eval() a net as it is now"},
    {" to cuda cpu ", "a backend is chosen by run .. on host, or by --on"},
};

constexpr Foreign task_members[] = {
    {" run call apply forward ", "call it: t(x)"},
    {" then ", "a >> b puts b behind a"},
};

constexpr Foreign short_calls[] = {
    {" range ", "0..n counts from 0 up to n; a list of it is range(0, n), with a step range(0, n, 2)"},
    {" reverse ", "of a tensor along an axis: x.reverse(0); of a list: map(range(0, len(l)), i => l[len(l) - 1 - i])"},
    {" uniform normal ", "random numbers have no state: each call says its seed, so it gives the same again"},
    {" softmax_ concat ", "it joins a list of tensors along an axis: concat([a, b], 0)"},
};

// Of what takes any number of values, as print does.
constexpr Foreign print_arguments[] = {
    {" end sep flush file ", "print writes blanks between values and a line end; join and format lay out"}};

constexpr Foreign arguments[] = {
    {" dim dims axes ", "it is called axis: x.sum(axis: 1)"},
    {" keepdim keepdims ", "a reduction keeps its axis with extent 1; x.drop(axis) takes it away"},
    {" dtype ", "the precision stands in the type: fill(f32[3], 0.0), or x as f32"},
    {" device ", "a backend is chosen by run .. on host, or by --on"},
    {" key reverse ", "sort takes numbers or texts in ascending order; sort pairs (key, value) by hand"},
    {" padding ", "it is called pad"},
    {" kernel_size ", "windows are given by k, or by the shape of w"},
    {" learning_rate eta ", "it is called lr"},
    {" low ", "it is called lo"},
    {" high ", "it is called hi"},
    {" size shape ", "the shape stands in the type: uniform(f32[2, 3], seed: 1)"},
    {" random_state generator ", "it is called seed"},
};

// Not in a program: in the reference.
constexpr Foreign looked_up[] = {
    {" loop loops ", "for runs over a range or a list, while as long as a condition holds: taskspec doc for"},
    {" elif elsif ", "it is written else if"},
    {" ternary ?: ", "if is a statement; between tensors where(c, a, b) chooses"},
    {" ** ^ power ", "pow(x, n) is a power"},
    {" // ", "a / b of ints drops the fraction"},
    {" ++ -- increment ", "x += 1 counts up"},
    {" main ", "a program is its statements, from top to bottom; a fn main is called as any other: main()"},
    {" csv table_file ",
     "load(f64[_], \"x.csv\", name: \"price\") reads a column; read(path) and split take any text apart"},
    {" file files io ", "read(path), write(path, text), load(TYPE, path) and save(x, path) work on files"},
    {" parallel thread threads process async_ ",
     "tasks that do not wait for one another run side by side by themselves: host(threads: 4)"},
    {" functions method methods procedure ", "fn is a function of the host, task and graph are of tensors"},
    {" exception exceptions errors ", "there are no exceptions: what fails ends the run; assert(c, \"why\")"},
    {" keyword keywords reserved ", "taskspec doc names lists the words of the language"},
    {" variable variables ", "let names a value for good, var a variable"},
    {" constants const ", "let names a value for good; -D name=value replaces one from outside"},
    {" types ",
     "int, float, bool, string, list and tuple are the host's; taskspec doc precisions has those of tensors"},
    {" backend backends ", "host, null and hw are backends: taskspec doc host"},
    {" matrix matrices ", "a matrix is a tensor of rank 2: [[1.0, 2.0]] as f32[1, 2]; a @ b is the matrix product"},
    {" debug debugger breakpoint ", "print, assert and graph_print(label, x) look inside; --profile tells of time"},
    {" loss losses ", "losses are named in train(net, loss: \"mse_avg\"): taskspec doc train"},
    {" sleep wait ", "nothing waits for a time; .scalar and .array wait for a value"},
};

}  // namespace

std::string_view foreign_name(std::string_view name) { return find_foreign(unknown_names, name); }
std::string_view foreign_at_prompt(std::string_view name) { return find_foreign(prompt_words, name); }
std::string_view foreign_type(std::string_view name) { return find_foreign(unknown_types, name); }
std::string_view foreign_module(std::string_view name) { return find_foreign(unknown_modules, name); }
std::string_view foreign_call(std::string_view name) { return find_foreign(short_calls, name); }
std::string_view foreign_argument(std::string_view name, bool any_number) {
  const std::string_view known = find_foreign(arguments, name);
  return known.empty() && any_number ? find_foreign(print_arguments, name) : known;
}

std::string_view foreign_member(const Type& type, std::string_view name) {
  using Kind = Type::Kind;
  if (type.is(Kind::invocation) && type.parts.size() == 1) return foreign_member(type.parts[0], name);
  if (type.is_tensor()) return find_foreign(tensor_members, name);
  if (type.is(Kind::list)) return find_foreign(list_members, name);
  if (type.is(Kind::string)) return find_foreign(string_members, name);
  if (type.is(Kind::agent)) return find_foreign(agent_members, name);
  if (type.is(Kind::task)) return find_foreign(task_members, name);
  return {};
}

}  // namespace taskspec::checking

namespace taskspec {

std::string_view foreign_word(std::string_view word) {
  using namespace checking;
  for (std::span<const Foreign> table :
       {std::span<const Foreign>(looked_up), std::span<const Foreign>(unknown_names),
        std::span<const Foreign>(unknown_types), std::span<const Foreign>(tensor_members),
        std::span<const Foreign>(list_members), std::span<const Foreign>(string_members),
        std::span<const Foreign>(unknown_modules)})
    if (std::string_view help = find_foreign(table, word); !help.empty()) return help;
  parsing::Surroundings at_its_start;
  at_its_start.start = at_its_start.before = word;
  at_its_start.here = "x";
  at_its_start.is_name = true;
  return parsing::foreign_advice(at_its_start);
}

}  // namespace taskspec
