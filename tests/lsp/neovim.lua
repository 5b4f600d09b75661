-- Opens a package in Neovim, waits for its finding, takes the fix, saves. What happened goes to standard
-- output as JSON. Arguments: the file.
local file = arg[1]

local function wait(what, condition)
  if not vim.wait(30000, condition, 20) then
    error('waited in vain for ' .. what)
  end
end

vim.cmd('filetype on')
vim.cmd.edit(file)
wait('a finding', function()
  return #vim.diagnostic.get(0) > 0
end)
-- Were it shown twice, the second would come now.
vim.wait(500, function()
  return false
end)
local found = vim.diagnostic.get(0)
local first = found[1]
vim.api.nvim_win_set_cursor(0, { first.lnum + 1, first.col })
vim.lsp.buf.code_action({ context = { only = { 'quickfix' }, diagnostics = {} }, apply = true })
wait('the fix', function()
  return #vim.diagnostic.get(0) == 0
end)
vim.cmd.write()
local client = vim.lsp.get_clients({ bufnr = 0 })[1]
local report = {
  count = #found,
  code = first.code,
  source = first.source,
  client = client.name,
  encoding = client.offset_encoding,
}
io.write(vim.json.encode(report))
client:stop()
wait('the end', function()
  return client:is_stopped()
end)
vim.cmd('qa!')
