// What instructions and calls are in a region.
#include "vm/api/host.h"
#include "vm/region/region.h"

tl_op tl_region_op(uint8_t opcode, uint32_t extra) {
  static const uint8_t ops[TL_OPCODE_COUNT] = {
      [TL_BC_ADD] = TL_OP_ADD + 1,
      [TL_BC_SUB] = TL_OP_SUBTRACT + 1,
      [TL_BC_MUL] = TL_OP_MULTIPLY + 1,
      [TL_BC_DIV] = TL_OP_DIVIDE + 1,
      [TL_BC_FLOORDIV] = TL_OP_FLOOR_DIVIDE + 1,
      [TL_BC_MOD] = TL_OP_REMAINDER + 1,
      [TL_BC_POW] = TL_OP_POW + 1,
      [TL_BC_BITAND] = TL_OP_BITWISE_AND + 1,
      [TL_BC_BITOR] = TL_OP_BITWISE_OR + 1,
      [TL_BC_BITXOR] = TL_OP_BITWISE_XOR + 1,
      [TL_BC_SHL] = TL_OP_LEFT_SHIFT + 1,
      [TL_BC_SHR] = TL_OP_RIGHT_SHIFT + 1,
      [TL_BC_EQ] = TL_OP_EQUAL + 1,
      [TL_BC_NE] = TL_OP_NOT_EQUAL + 1,
      [TL_BC_LT] = TL_OP_LESS + 1,
      [TL_BC_LE] = TL_OP_LESS_EQUAL + 1,
      [TL_BC_GT] = TL_OP_GREATER + 1,
      [TL_BC_GE] = TL_OP_GREATER_EQUAL + 1,
      [TL_BC_ADDI] = TL_OP_ADD + 1,
      [TL_BC_SUBI] = TL_OP_SUBTRACT + 1,
      [TL_BC_MUL_ADD_L] = TL_OP_MULTIPLY + 1,
      [TL_BC_MUL_SUB_L] = TL_OP_MULTIPLY + 1,
      [TL_BC_MUL_MUL_L] = TL_OP_MULTIPLY + 1,
      [TL_BC_ADD_ADD_L] = TL_OP_ADD + 1,
      [TL_BC_ADD_SUB_L] = TL_OP_ADD + 1,
      [TL_BC_ADD_MUL_L] = TL_OP_ADD + 1,
      [TL_BC_SUB_ADD_L] = TL_OP_SUBTRACT + 1,
      [TL_BC_SUB_SUB_L] = TL_OP_SUBTRACT + 1,
      [TL_BC_SUB_MUL_L] = TL_OP_SUBTRACT + 1,
      [TL_BC_MUL_ADD_R] = TL_OP_MULTIPLY + 1,
      [TL_BC_MUL_SUB_R] = TL_OP_MULTIPLY + 1,
      [TL_BC_MUL_MUL_R] = TL_OP_MULTIPLY + 1,
      [TL_BC_ADD_ADD_R] = TL_OP_ADD + 1,
      [TL_BC_ADD_SUB_R] = TL_OP_ADD + 1,
      [TL_BC_ADD_MUL_R] = TL_OP_ADD + 1,
      [TL_BC_SUB_ADD_R] = TL_OP_SUBTRACT + 1,
      [TL_BC_SUB_SUB_R] = TL_OP_SUBTRACT + 1,
      [TL_BC_SUB_MUL_R] = TL_OP_SUBTRACT + 1,
      [TL_BC_ADDK] = TL_OP_ADD + 1,
      [TL_BC_SUBK] = TL_OP_SUBTRACT + 1,
      [TL_BC_MULK] = TL_OP_MULTIPLY + 1,
      [TL_BC_DIVK] = TL_OP_DIVIDE + 1,
      [TL_BC_FLOORDIVK] = TL_OP_FLOOR_DIVIDE + 1,
      [TL_BC_MODK] = TL_OP_REMAINDER + 1,
      [TL_BC_POWK] = TL_OP_POW + 1,
      [TL_BC_BITANDK] = TL_OP_BITWISE_AND + 1,
      [TL_BC_BITORK] = TL_OP_BITWISE_OR + 1,
      [TL_BC_BITXORK] = TL_OP_BITWISE_XOR + 1,
      [TL_BC_SHLK] = TL_OP_LEFT_SHIFT + 1,
      [TL_BC_SHRK] = TL_OP_RIGHT_SHIFT + 1,
  };
  if (opcode == TL_BC_ELEM1 || opcode == TL_BC_ELEM2 || opcode == TL_BC_ELEM3) {
    return extra < TL_OP_COUNT ? (tl_op)extra : TL_OP_COUNT;
  }
  return ops[opcode] == 0 ? TL_OP_COUNT : (tl_op)(ops[opcode] - 1);
}

tl_region_step tl_region_step_of(uint8_t opcode, uint32_t extra) {
  switch (opcode) {
    case TL_BC_LOADK:
    case TL_BC_LOADI:
    case TL_BC_GETG:
    case TL_BC_GETC:
    case TL_BC_SELF:
      return TL_STEP_LOAD;
    case TL_BC_MOV:
    case TL_BC_MOVB:
      return TL_STEP_MOVE;
    case TL_BC_DROP:
      return TL_STEP_DROP;
    case TL_BC_HOLD:
    case TL_BC_KEEP:
    case TL_BC_INHERIT:
    case TL_BC_LEAVE:
    case TL_BC_OWN:
    case TL_BC_KEEPALL:
    case TL_BC_KEEPOF:
      return TL_STEP_HOLD;
    case TL_BC_SETTLE:
      return TL_STEP_SETTLE;
    case TL_BC_GETEL:
    case TL_BC_GETEL2:
    case TL_BC_INDEX:
    case TL_BC_GETF:
      return TL_STEP_VIEW;
    case TL_BC_SETEL:
    case TL_BC_REPLACE:
    case TL_BC_SETEL2:
    case TL_BC_SETPATH:
      return TL_STEP_PLACE;
    case TL_BC_CALLB:
      return TL_STEP_CALL;
    case TL_BC_CALLK:
    case TL_BC_CALL:
      return TL_STEP_INLINE;
    default:
      return tl_region_op(opcode, extra) == TL_OP_COUNT ? TL_STEP_NONE
                                                        : TL_STEP_OPERATION;
  }
}

static bool is_conversion(const tl_builtin *builtin) {
  return tl_builtin_converts(builtin) != TL_DTYPE_COUNT;
}

tl_region_step tl_region_call(const tl_builtin *builtin) {
  if ((builtin->flags & TL_HOST) != 0) {
    return ((const tl_host_function *)(const void *)builtin)->loop != NULL
               ? TL_STEP_HOST
               : TL_STEP_NONE;
  }
  return tl_builtin_is_fold(builtin)     ? TL_STEP_CALL
         : tl_builtin_is_scan(builtin)   ? TL_STEP_CALL
         : tl_builtin_is_norm(builtin)   ? TL_STEP_CALL
         : tl_builtin_is_intake(builtin) ? TL_STEP_CALL
         : tl_builtin_is_cast(builtin)   ? TL_STEP_CAST
         : is_conversion(builtin)        ? TL_STEP_CAST
         : tl_builtin_is_clip(builtin)   ? TL_STEP_CLIP
         : tl_builtin_is_roll(builtin)   ? TL_STEP_ROLL
                                         : TL_STEP_NONE;
}
