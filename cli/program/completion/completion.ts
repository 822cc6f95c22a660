import { operand, type Run } from '../command.ts';
import type { SHELLS } from './shells.ts';

type Shell = (typeof SHELLS)[number];

/** Each asks `fas complete` for what may come next, and offers files where that knows nothing. */
const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# fas completion bash > ~/.local/share/bash-completion/completions/fas
_fas() {
  local IFS=$'\\n'
  COMPREPLY=($(fas complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _fas fas`,
  zsh: `#compdef fas
# fas completion zsh > a folder of $fpath, as _fas
_fas() {
  local -a candidates
  candidates=("\${(@f)$(fas complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  candidates=("\${(@)candidates//:/\\\\:}")
  candidates=("\${(@)candidates/$'\\t'/:}")
  if (( \${#candidates} && \${#candidates[1]} )); then _describe fas candidates; else _files; fi
}
if [ "$funcstack[1]" = _fas ]; then _fas "$@"; else compdef _fas fas; fi`,
  fish: `# fas completion fish > ~/.config/fish/completions/fas.fish
function __fas_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l candidates (fas complete -- $words[2..-1] 2>/dev/null)
  if test -n "$candidates"
    printf '%s\\n' $candidates
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c fas -f -a '(__fas_complete)'`,
};

export const printCompletionScript: Run = async (context) => {
  const shell = operand(context, 0);
  const script = Object.entries(SCRIPTS).find(([name]) => name === shell)?.[1] ?? '';
  context.output.show({ shell, script }, [script]);
  return 0;
};
