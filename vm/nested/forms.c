// The table of the forms, see forms.h.
#include "vm/nested/forms.h"

#define OPS(form, get_of, set_of, elementwise_of, concat_of) \
  [TL_FORM_##form] = {tl_##get_of##_get, tl_##set_of##_set,  \
                      tl_##elementwise_of##_elementwise,     \
                      tl_##concat_of##_concat}

const tl_form_ops tl_forms[TL_FORM_COUNT] = {
    OPS(OPTION, option, option, options, options),
    OPS(STRUCT, struct, struct, structs, structs),
    OPS(COLUMNS, columns, columns, structs, structs),
    OPS(RAGGED, ragged, ragged, rows, rows),
    OPS(GRID, grid, grid, grid, grid),
    OPS(CATEGORY, indexed, category, indexed, indexed),
    OPS(POINTER, indexed, pointer, indexed, indexed),
    OPS(BYTES, raw_bytes, raw_bytes, raw_bytes, raw_bytes),
};
