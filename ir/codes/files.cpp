#include "ir/codes/families.hpp"

namespace taskspec {
namespace {

constexpr CodeInfo files_family[] = {
    {.code = "E7001",
     .summary = "file or module not found",
     .program = R"(let photo = load(u8[_, _, 3], "no_such_photo.png")
print(photo.shape))",
     .cause =
         R"(There is no file of this name, or it may not be read. A module a.b is the file a/b.task, or else the library
a/b.tasklib, beside the importing file, then in the folders of TASKSPEC_PATH, then in the prelude.)",
     .fix = R"(Check the name and the folder that taskspec was started in: paths are taken from there.)"},
    {.code = "E7002",
     .summary = "import cycle",
     .program = R"(import b        // in a.task, while b.task says: import a)",
     .cause = R"(Files import one another in a circle, so none of them could be loaded first.)",
     .fix = R"(Move what both need to a third file.)",
     .reach = Reach::circumstance},
    {.code = "E7003",
     .summary = "broken or unsupported file",
     .program = R"(let x = load(f32[_], "cut_short.npy")    // with fewer bytes than its header promises)",
     .cause = R"(The content of the file is not what its name or header says: cut short, damaged, of an unknown kind, or
larger than it may be. Or it is the checkpoint of another agent than the one that loads it; or a chip file with a field
that is unknown, missing or out of range, or with a figure that has no source.)",
     .fix =
         R"(Make the file again. Known kinds are npy, npz, png, jpeg, csv, idx and raw records (bin), told apart by the ending of the
name. The notes of a checkpoint that does not fit name every array that differs. What a chip file has is told field by
field, each with its place and what was expected there.)",
     .reach = Reach::circumstance},
    {.code = "E7004",
     .summary = "a file cannot be written",
     .program = R"(write("no_such_folder/result.txt", "45"))",
     .cause =
         R"(The folder is missing or protected, or the disk is full. An older file of the same name is unchanged.)",
     .fix = R"(Create the folder, choose another one, or make room.)"},
    {.code = "E7005",
     .summary = "an imported file does more than declare",
     .program = R"(import loud     // where loud.task says: print("hello"))",
     .cause =
         R"(An imported file holds declarations and top-level `let`s with pure values only, so that importing it does
nothing but bring its names.)",
     .fix = R"(Put the statements into a fn of that file and call it from the importing one.)",
     .reach = Reach::circumstance},
    {.code = "E7006",
     .summary = "a library is not what was built",
     .program = R"(import nn       // where nn.tasklib was edited, or uses a module that has changed since)",
     .cause =
         R"(A library (NAME.tasklib) holds a hash of each of its declarations: of the signature and the typed body, and
the same of everything that it uses. One of them does not fit what is there now.)",
     .fix =
         R"(Build it again from its text: taskspec build --lib NAME, in the folder from which NAME, or a.NAME, is imported.)",
     .reach = Reach::circumstance},
    {.code = "E7007",
     .summary = "a model uses operators that are not known",
     .program = R"(taskspec import detector.onnx -o detector.task    // where detector.onnx has NonMaxSuppression)",
     .cause =
         R"(A model is a graph of operators of its format. Those in the list are none that the importer can write in the
language, at the version that the model says.)",
     .fix = R"(Export the part of the model in front of them, or write what they do in the language.)",
     .reach = Reach::circumstance},
    {.code = "E7008",
     .summary = "a model leaves a number open that its import needs",
     .program = R"(taskspec import net.onnx -o net.task    // where the height of the pictures is 'height')",
     .cause =
         R"(Extents, axes, pads and bounds of a program are numbers, or names of extents. A model may leave them to its
inputs: then somebody has to say what they are.)",
     .fix =
         R"(Say it: taskspec import net.onnx -o net.task -D height=224; of an input with several elements -D shape=2,3.)",
     .reach = Reach::circumstance},
};
static_assert(is_family(files_family, 7));

}  // namespace

std::span<const CodeInfo> file_codes() { return files_family; }

}  // namespace taskspec
