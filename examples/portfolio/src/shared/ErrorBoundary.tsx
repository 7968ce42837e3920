import { Component, type ReactNode } from 'react'
import { Notice } from './Notice.tsx'

/** Where showing something fails, because of a mistake in the page or an answer like no other, the rest stays. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true }
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children
    return (
      <Notice
        state="failed"
        title="This part of the page cannot be shown"
        action={{ label: 'Try again', onPress: () => this.setState({ failed: false }) }}
      >
        The rest of the page is not affected.
      </Notice>
    )
  }
}
