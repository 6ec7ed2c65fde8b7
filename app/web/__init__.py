"""What a browser sees: pages, the stream that keeps them moving, and the headers that keep them safe."""
