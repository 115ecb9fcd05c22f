-- Side by side: FOREIGN KEY invitation_user_id_fkey keeps rows of app_user: no server deletes a user, so none is kept that would go
-- Side by side: FOREIGN KEY invitation_invited_by_fkey keeps rows of app_user: no server deletes a user, so none is kept that would go

-- CreateEnum
CREATE TYPE "invitation_outcome" AS ENUM ('accepted', 'declined', 'withdrawn', 'replaced');

-- CreateTable
CREATE TABLE "invitation" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "project_id" UUID,
    "environment_id" UUID,
    "user_id" UUID NOT NULL,
    "role" "role" NOT NULL,
    "invited_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "outcome" "invitation_outcome",

    CONSTRAINT "invitation_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "invitation_user_id_organization_id_idx" ON "invitation"("user_id", "organization_id");

-- CreateIndex
CREATE INDEX "invitation_organization_id_idx" ON "invitation"("organization_id");

-- CreateIndex
CREATE INDEX "invitation_project_id_idx" ON "invitation"("project_id");

-- CreateIndex
CREATE INDEX "invitation_environment_id_idx" ON "invitation"("environment_id");

-- AddForeignKey
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_invited_by_fkey" FOREIGN KEY ("invited_by") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What schema.prisma cannot say.

ALTER TABLE "invitation" ADD CONSTRAINT "invitation_place" CHECK ("environment_id" IS NULL OR "project_id" IS NOT NULL);
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_role" CHECK ("role" <> 'owner' OR "project_id" IS NULL);
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_end" CHECK (("ended_at" IS NULL) = ("outcome" IS NULL));

-- One that waits for each user and place.
CREATE UNIQUE INDEX "invitation_waiting" ON "invitation" (
    "organization_id", COALESCE("project_id", '00000000-0000-0000-0000-000000000000'),
    COALESCE("environment_id", '00000000-0000-0000-0000-000000000000'), "user_id") WHERE "ended_at" IS NULL;
