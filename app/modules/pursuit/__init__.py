"""The questioner and the paraphraser of evidence pursuit (Papelo, arXiv 2411.05762): prompted, fine-tuned, local."""
