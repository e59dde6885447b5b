"""A real cross-encoder, tiny, whose weights are set by hand: it prefers the passage with more of one word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WANTED = "good"


def build(folder: Path, labels: int = 1) -> Path:
    """Writes it as transformers would. Imports torch: call it where that does no harm.

    A BERT whose one attention layer averages all tokens into the first. "good" points another way than all other words,
    and the score is how far the average does.
    """
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    made: Any = transformers  # much of it is made at run time, and is not typed

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", WANTED, "bad"]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = made.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=512,
    )
    fast.save_pretrained(folder)
    size = 4
    config = made.BertConfig(
        vocab_size=len(words),
        hidden_size=size,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=size,
        num_labels=labels,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = made.BertForSequenceClassification(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
        embeddings = model.bert.embeddings
        # Of two directions, since normalisation keeps nothing of a length but its share.
        embeddings.word_embeddings.weight[:] = torch.tensor([1.0, -1.0, 0.0, 0.0])
        embeddings.word_embeddings.weight[4] = torch.tensor([0.0, 0.0, 1.0, -1.0])
        embeddings.LayerNorm.weight.fill_(1.0)
        layer = model.bert.encoder.layer[0]
        layer.attention.self.value.weight[:] = torch.eye(size)
        layer.attention.output.dense.weight[:] = torch.eye(size)
        layer.attention.output.LayerNorm.weight.fill_(1.0)
        layer.output.LayerNorm.weight.fill_(1.0)
        model.bert.pooler.dense.weight[:] = torch.eye(size)
        model.classifier.weight[0] = torch.tensor([0.0, 0.0, 1.0, -1.0])
    model.save_pretrained(folder)
    return folder
