// The measure of the grammar: how often its decisions need more than the fast mode.
#include "frontend/parse.hpp"
#include "frontend/parse_antlr.hpp"

namespace taskspec {

using antlr4::atn::ParserATNSimulator;
using antlr4::atn::PredictionMode;
using parsing::Recovery;
using parsing::TokenStream;

namespace {

class ReportCounter final : public antlr4::BaseErrorListener {
 public:
  explicit ReportCounter(ParseReport::Mode& counts) : counts_(counts) {}
  void reportAmbiguity(antlr4::Parser*, const antlr4::dfa::DFA&, size_t, size_t, bool, const antlrcpp::BitSet&,
                       antlr4::atn::ATNConfigSet*) override {
    ++counts_.ambiguities;
  }
  void reportAttemptingFullContext(antlr4::Parser*, const antlr4::dfa::DFA&, size_t, size_t, const antlrcpp::BitSet&,
                                   antlr4::atn::ATNConfigSet*) override {
    ++counts_.full_contexts;
  }

 private:
  ParseReport::Mode& counts_;
};

// Decides as its base does, and counts the tokens that it looks at.
class CountingSimulator final : public ParserATNSimulator {
 public:
  CountingSimulator(antlr4::Parser* parser, const antlr4::atn::ATN& atn, std::vector<antlr4::dfa::DFA>& tables,
                    antlr4::atn::PredictionContextCache& cache, std::size_t& looked_at)
      : ParserATNSimulator(parser, atn, tables, cache), looked_at_(looked_at) {}

 protected:
  antlr4::dfa::DFAState* getExistingTargetState(antlr4::dfa::DFAState* state, size_t token) override {
    ++looked_at_;
    return ParserATNSimulator::getExistingTargetState(state, token);
  }

 private:
  std::size_t& looked_at_;
};

// Prediction tables of its own, so that nothing an earlier run has learned can hide a report.
ParseReport::Mode count_reports(SourceId source, std::string_view text, PredictionMode mode) {
  Diags diags;
  ParseReport::Mode counts;
  std::vector<Token> tokens = parsing::prepare(source, text, diags);
  if (!diags.has_errors()) {
    TokenStream stream(text, tokens);
    TaskParser parser(&stream);
    std::vector<antlr4::dfa::DFA> tables;
    const antlr4::atn::ATN& atn = parser.getATN();
    for (std::size_t i = 0; i < atn.getNumberOfDecisions(); ++i) tables.emplace_back(atn.getDecisionState(i), i);
    antlr4::atn::PredictionContextCache cache;
    auto* simulator = new CountingSimulator(&parser, atn, tables, cache, counts.lookahead);
    parser.setInterpreter(simulator);  // the parser owns it
    simulator->setPredictionMode(mode);
    ReportCounter counter(counts);
    parser.removeErrorListeners();
    parser.addErrorListener(&counter);
    parser.setErrorHandler(std::make_shared<Recovery>(source, stream, diags));
    parser.program();
  }
  counts.errors = diags.size();
  return counts;
}

}  // namespace

ParseReport parse_report(const Sources& sources, SourceId source) {
  std::string_view text = sources[source].text();
  return {count_reports(source, text, PredictionMode::SLL),
          count_reports(source, text, PredictionMode::LL_EXACT_AMBIG_DETECTION)};
}

}  // namespace taskspec
