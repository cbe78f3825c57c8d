grammar Task;
program   : ';'* (item (';'+ item)* ';'*)? EOF ;
item      : importDecl | fieldsDecl | agentDecl | taskDecl | fnDecl | irDecl | stmt ;

importDecl: 'import' (ID ('.' ID)* | STRING) ('as' ID)? ;   // STRING: a model file (.onnx, .nir, .task.txt)
fieldsDecl: 'fields' ID '{' field (',' field)* ','? '}' ;
agentDecl : 'agent' ID ('(' params? ')')? '{' ';'* (member (';'+ member)* ';'*)? '}' ;
member    : slot | taskDecl | fnDecl ;
slot      : ID ID (':' type)? ('=' expr)? ;                 // weight, state, table; layer, which alone needs no type
taskDecl  : 'task' ID '(' params? ')' results? (block | 'extern' STRING) ;
fnDecl    : ('fn' | 'graph') ID '(' params? ')' results? block ;
irDecl    : 'ir' ID '{' ';'* (irLine (';'+ irLine)* ';'*)? '}' ;
irLine    : irBlock | irEdge ;
irBlock   : ID ':' ID ID '[' args ']' ('(' args ')')? ('=' expr)? ;
irEdge    : port '->' port ('|' ID ('(' args? ')')?)* ;     // rearrangements, and delay(d)
port      : ID ('.' ID)? ('[' index (',' index)* ']')? ;

params    : param (',' param)* ','? ;
param     : priv? ID ':' type ('=' expr)? ;
priv      : 'in' | 'out' | 'inout' | 'reduce' '(' ('+' | '*' | ID) ')' ;
results   : '->' (type | '(' field (',' field)* ','? ')') ;
field     : ID ':' type ;
type      : ID ('[' op (',' op)* ']')? ('.' '{' ID (',' ID)* '}')?
          | '[' type ']'                                    // list
          | '(' type (',' type)+ ')'                        // tuple
          | 'fn' '(' (type (',' type)*)? ')' ('->' type)? ;

block     : '{' ';'* (stmt (';'+ stmt)* ';'*)? '}' ;
stmt      : ('let' | 'var') pattern (':' type)? '=' expr
          | ifStmt
          | 'for' pattern 'in' expr block
          | 'while' expr block
          | 'trace' block
          | 'return' expr?
          | 'break' | 'continue'
          | expr (('=' | '+=' | '-=' | '*=' | '/=') expr)? ;
ifStmt    : 'if' expr block ('else' (block | ifStmt))? ;
pattern   : ID | '(' ID (',' ID)* ')' ;

expr      : pattern '=>' expr
          | 'launch' op 'for' pattern 'in' op ('by' op)?
          | 'run' op 'on' op
          | 'region' type
          | op ;
op        : ('-' | '!') op
          | op 'as' type
          | op ('*' | '/' | '%' | '@') op
          | op ('+' | '-') op
          | op '..' op
          | op '&' op
          | op '|' op
          | op ('<' | '<=' | '>' | '>=' | '==' | '!=') op
          | op '&&' op
          | op '||' op
          | op '>>' op
          | postfix ;
postfix   : primary ('.' ID | '(' args? ')' | '[' index (',' index)* ']')* ;
primary   : ID | INT | FLOAT | STRING | 'true' | 'false'
          | '(' expr (',' expr)* ','? ')'
          | '[' (expr (',' expr)* ','?)? ']' ;
index     : op | op '..' | '..' op? ;
args      : arg (',' arg)* ','? ;
arg       : (ID ':')? expr ;

ID        : [a-zA-Z_] [a-zA-Z_0-9]* ;
FLOAT     : DIGITS '.' DIGITS EXP? | DIGITS EXP ;
INT       : DIGITS | '0x' [0-9a-fA-F_]+ ;
STRING    : '"' (~["\\\r\n] | '\\' ~[\r\n])* '"' ;
SHEBANG   : '#!' ~[\r\n]* -> skip ;                         // elsewhere than at byte 0: E0001
COMMENT   : '//' ~[\r\n]* -> skip ;
WS        : [ \t\r\n]+ -> skip ;
OTHER     : . ;                                             // in no rule: the parser reports it with its place
fragment DIGITS : [0-9] [0-9_]* ;
fragment EXP    : [eE] [+-]? [0-9]+ ;
