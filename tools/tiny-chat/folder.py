"""Writes the model folder. Usage: python3 folder.py WORK_FOLDER MODEL_FOLDER. Needs the checkpoint of train.py."""
import json, os, sys
import torch
from bpe import PATTERN, SPECIAL, Bpe
from corpus import held_out
from network import Network, Shape, export
from objects import schema

# Tools stand in the system part, results of tools in a turn of the user, calls and thoughts in a turn of the assistant.
TEMPLATE = (
    "{%- macro tool_list() %}{{ '# Tools\\n\\n<tools>' }}"
    "{%- for tool in tools %}{{ '\\n' + (tool.function if tool.function else tool) | tojson }}{% endfor %}"
    "{{- '\\n</tools>\\n\\nTo call a tool: <tool_call>\\n{\"name\": …, \"arguments\": {…}}\\n</tool_call>' }}{% endmacro %}"
    "{%- if tools and messages[0].role not in ['system', 'developer'] %}{{ '<|im_start|>system\\n' + tool_list() + '<|im_end|>\\n' }}{% endif %}"
    "{%- for message in messages %}"
    "{%- set content = message.content if message.content else '' %}"
    "{%- if message.role == 'tool' %}"
    "{%- if loop.index0 == 0 or messages[loop.index0 - 1].role != 'tool' %}{{ '<|im_start|>user' }}{% endif %}"
    "{{- '\\n<tool_response>\\n' + content + '\\n</tool_response>' }}"
    "{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{ '<|im_end|>\\n' }}{% endif %}"
    "{%- else %}"
    "{{- '<|im_start|>' + ('system' if message.role == 'developer' else message.role) + '\\n' }}"
    "{%- if message.role == 'assistant' and message.reasoning_content %}{{ '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}{% endif %}"
    "{{- content }}"
    "{%- if tools and loop.first and message.role in ['system', 'developer'] %}{{ ('\\n\\n' if content else '') + tool_list() }}{% endif %}"
    "{%- for call in message.tool_calls or [] %}"
    "{%- set function = call.function if call.function else call %}"
    "{%- if content or not loop.first %}{{ '\\n' }}{% endif %}"
    "{{- '<tool_call>\\n{\"name\": ' + function.name | tojson + ', \"arguments\": ' }}"
    "{{- function.arguments if function.arguments is string else function.arguments | tojson }}{{ '}\\n</tool_call>' }}"
    "{%- endfor %}"
    "{{- '<|im_end|>\\n' }}"
    "{%- endif %}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")


def questions():
    """The held-out samples as questions for check.ts. If the keys of an answer are not learned, a schema forces them."""
    out = []
    for skill, samples in held_out(32).items():
        for *before, (_, text, *spans) in samples:
            one = {'skill': skill, 'messages': [{'role': m[0], 'content': m[1]} for m in before], 'answer': text}
            if spans and spans[0][0][0] > 0:
                if not text.startswith(('{', '[')): continue
                v = json.loads(text)
                if '[]' in text or 'null' in text: continue
                one['schema'] = strict(schema(v) if isinstance(v, dict) else {'type': 'array', 'items': {'type': 'integer' if isinstance(v[0], int) else 'string'}})
            out.append(one)
    return out


def strict(s):
    if 'properties' in s: return {**s, 'additionalProperties': False, 'properties': {k: strict(x) for k, x in s['properties'].items()}}
    return s


def main(work, out):
    os.makedirs(os.path.join(out, 'onnx'), exist_ok=True)
    vocab, merges = json.load(open(os.path.join(work, 'bpe.json')))
    bpe, n = Bpe(vocab, [tuple(m) for m in merges]), len(vocab)
    c = Shape(bpe.size)
    token = lambda s: {'content': s, 'single_word': False, 'lstrip': False, 'rstrip': False, 'normalized': False, 'special': True}

    def write(name, value):
        with open(os.path.join(out, name), 'w', encoding='utf8') as f: json.dump(value, f, indent=1, ensure_ascii=False)

    level = {'type': 'ByteLevel', 'add_prefix_space': False, 'trim_offsets': False, 'use_regex': False}
    split = {'type': 'Split', 'pattern': {'Regex': PATTERN}, 'behavior': 'Isolated', 'invert': False}
    write('tokenizer.json', {
        'version': '1.0', 'truncation': None, 'padding': None, 'added_tokens': [{'id': n + i, **token(s)} for i, s in enumerate(SPECIAL)], 'normalizer': {'type': 'NFC'},
        'pre_tokenizer': {'type': 'Sequence', 'pretokenizers': [split, level]}, 'post_processor': level, 'decoder': level,
        'model': {'type': 'BPE', 'dropout': None, 'unk_token': None, 'continuing_subword_prefix': '', 'end_of_word_suffix': '', 'fuse_unk': False, 'byte_fallback': False,
                  'vocab': vocab, 'merges': [f'{a} {b}' for a, b in bpe.merges]}})
    write('tokenizer_config.json', {
        'add_bos_token': False, 'add_prefix_space': False, 'added_tokens_decoder': {str(n + i): token(s) for i, s in enumerate(SPECIAL)},
        'additional_special_tokens': SPECIAL[1:], 'bos_token': None, 'chat_template': TEMPLATE, 'clean_up_tokenization_spaces': False, 'eos_token': '<|im_end|>',
        'model_max_length': c.context, 'pad_token': '<|endoftext|>', 'tokenizer_class': 'Qwen2Tokenizer', 'unk_token': None})
    write('config.json', {
        'architectures': ['Qwen2ForCausalLM'], 'model_type': 'qwen2', 'vocab_size': c.vocab, 'hidden_size': c.hidden, 'intermediate_size': c.inner, 'num_hidden_layers': c.layers,
        'num_attention_heads': c.heads, 'num_key_value_heads': c.kv_heads, 'head_dim': c.head, 'max_position_embeddings': c.context, 'rms_norm_eps': c.eps, 'rope_theta': c.theta,
        'hidden_act': 'silu', 'tie_word_embeddings': True, 'use_cache': True, 'use_sliding_window': False, 'attention_dropout': 0.0, 'bos_token_id': bpe.pad, 'eos_token_id': bpe.end,
        'torch_dtype': 'float32', 'transformers_version': '4.44.0'})
    write('generation_config.json', {'bos_token_id': bpe.pad, 'eos_token_id': [bpe.end, bpe.pad], 'pad_token_id': bpe.pad, 'do_sample': False, 'transformers_version': '4.44.0'})
    network = Network(c)
    network.load_state_dict(torch.load(os.path.join(work, 'checkpoint.pt'))['network'])
    path = os.path.join(out, 'onnx', 'model.onnx')
    export(network, path)
    with open(os.path.join(work, 'held-out.json'), 'w') as f: json.dump(questions(), f)
    print('bytes', os.path.getsize(path))


main(*sys.argv[1:])
