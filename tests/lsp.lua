-- Neovim as the client of `tally lsp`: nvim --headless -u NONE -l or -c luafile
-- with TALLY as the command. Prints what the server says of one document.
local file = os.getenv('TALLY_FILE')
vim.cmd('edit ' .. file)
local id = vim.lsp.start_client({name = 'tally', cmd = {os.getenv('TALLY'), 'lsp'}})
vim.lsp.buf_attach_client(0, id)
vim.wait(10000, function() return #vim.diagnostic.get(0) > 0 end, 20)
for _, d in ipairs(vim.diagnostic.get(0)) do
  print(d.lnum + 1 .. ':' .. d.col + 1 .. ' ' .. d.severity .. ' ' .. d.message)
end
local function ask(method, line, character, more)
  local answers = vim.lsp.buf_request_sync(0, method, vim.tbl_extend('force', {
    textDocument = {uri = vim.uri_from_bufnr(0)},
    position = {line = line, character = character},
    options = {tabSize = 2, insertSpaces = true},
  }, more or {}), 10000)
  for _, answer in pairs(answers or {}) do return answer.result end
end
print('hover ' .. vim.inspect(ask('textDocument/hover', 6, 6).contents.value))
for _, item in ipairs(ask('textDocument/completion', 7, 15)) do
  print('completion ' .. item.label)
end
local help = ask("textDocument/signatureHelp", 6, 12)
local place = ask('textDocument/definition', 6, 6)
print('definition ' .. place.range.start.line + 1)
print("help " .. help.signatures[1].label .. ' active ' .. help.activeParameter)
for _, symbol in ipairs(ask('textDocument/documentSymbol', 0, 0)) do
  print('symbol ' .. symbol.name)
end
local places = 'references'
for _, found in ipairs(ask('textDocument/references', 4, 6,
                           {context = {includeDeclaration = true}})) do
  local start = found.range.start
  places = places .. ' ' .. start.line + 1 .. ':' .. start.character
end
print(places)
places = 'highlights'
for _, found in ipairs(ask('textDocument/documentHighlight', 4, 6)) do
  places = places .. ' ' .. found.range.start.line + 1 .. ':' .. found.kind
end
print(places)
local range = ask('textDocument/prepareRename', 2, 13)
print('prepared ' .. range.start.line .. ':' .. range.start.character .. ' ' ..
      range['end'].line .. ':' .. range['end'].character)
vim.lsp.util.apply_workspace_edit(
    ask('textDocument/rename', 4, 7, {newName = 'factor'}), 'utf-16')
print(vim.api.nvim_buf_get_lines(0, 4, 5, false)[1])
vim.lsp.util.apply_text_edits(ask('textDocument/formatting', 0, 0), 0, 'utf-16')
print('laid out ' .. vim.api.nvim_buf_get_lines(0, 2, 3, false)[1])
vim.api.nvim_buf_set_lines(0, 3, 4, false, {'  𝛼 = 1; β = nope'})
vim.wait(10000, function()
  local first = vim.diagnostic.get(0)[1]
  return first ~= nil and first.message:find('nope') ~= nil
end, 20)
local first = vim.diagnostic.get(0)[1]
print(first.lnum + 1 .. ':' .. first.col + 1 .. ' ' .. first.message)
